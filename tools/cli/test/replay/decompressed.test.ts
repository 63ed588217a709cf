import zlib, { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  compressionOf,
  DamagedError,
  decompressed,
  UnknownCompressionError,
} from '../../src/replay/reading/decompressed.ts';

const TEXT = Array.from({ length: 20_000 }, (_, i) => `line ${i * 7919}\n`).join('');

/** Decompresses chunks as far as possible. */
async function result(chunks: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<{ text: string; error: unknown }> {
  let text = '';
  try {
    for await (const chunk of decompressed(each(chunks), 'gzip')) text += String(chunk);
    return { text, error: undefined };
  } catch (error) {
    return { text, error };
  }
}

async function* each(chunks: Iterable<Buffer> | AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* chunks;
}

function parts(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
}

describe('decompressed', () => {
  it.each([1, 1000, 1_000_000])('returns the text of gzip in chunks of %d bytes', async (size) => {
    const text = TEXT.slice(0, size === 1 ? 5000 : TEXT.length);
    expect(await result(parts(gzipSync(text), size))).toEqual({ text, error: undefined });
  });

  it.each([1000, 1_000_000])('returns what comes before the end of a file that ends too early, %d', async (size) => {
    const bytes = gzipSync(TEXT);
    const { text, error } = await result(parts(bytes.subarray(0, bytes.length / 2), size));
    expect(error).toEqual(new DamagedError('the compressed file ends too early'));
    expect(text.length).toBeGreaterThan(TEXT.length / 4);
    expect(TEXT.startsWith(text)).toBe(true);
  });

  it.each([1000, 1_000_000])('reports damage, in chunks of %d bytes', async (size) => {
    const bytes = gzipSync(TEXT);
    const middle = bytes.length >> 1;
    bytes.fill(0xff, middle, middle + 200);
    expect((await result(parts(bytes, size))).error).toEqual(new DamagedError('the compressed file is damaged'));
  });

  it('reads a file of several members, also when a chunk ends with a member', async () => {
    expect(await result(['a', 'b', 'c'].map((text) => gzipSync(text)))).toEqual({ text: 'abc', error: undefined });
  });

  it.each([1, 1000, 300_000])(
    'ends at zeros after the gzip, with which some programs fill up a file, %d',
    async (size) => {
      const [text, zeros] = [gzipSync('text'), Buffer.alloc(size)];
      for (const chunks of [
        [text, zeros, zeros, zeros],
        [Buffer.concat([text, zeros]), zeros, zeros],
      ]) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        expect(await result(chunks)).toEqual({ text: 'text', error: undefined });
      }
    },
  );

  it('passes on the error of what it reads from', async () => {
    const broken = new Error('EIO');
    const { text, error } = await result(
      (async function* () {
        yield gzipSync(TEXT);
        throw broken;
      })(),
    );
    expect(error).toBe(broken);
    expect(text).toBe(TEXT);
  });

  it.skipIf('createZstdDecompress' in zlib)(
    'reports that this version of Node can not read zstd, and what to do',
    async () => {
      const reading = decompressed(each([]), 'zstd').next();
      await expect(reading).rejects.toThrow(UnknownCompressionError);
      await expect(decompressed(each([]), 'zstd').next()).rejects.toThrow('Decompress it first: zstdcat file.zst |');
    },
  );

  it('recognizes gzip and zstd by their first bytes', () => {
    const first = [gzipSync(''), Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0]), Buffer.from([0x28, 0xb5]), Buffer.from('a')];
    expect(first.map(compressionOf)).toEqual(['gzip', 'zstd', 'none', 'none']);
  });
});
