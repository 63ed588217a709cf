import zlib, { type Gunzip } from 'node:zlib';

/** The bytes with which a gzip file and a zstd file begin. */
const MAGIC = { gzip: [0x1f, 0x8b], zstd: [0x28, 0xb5, 0x2f, 0xfd] } as const;
/** How many bytes show how a file is compressed. */
export const MAGIC_BYTES: number = MAGIC.zstd.length;
const CHUNK_BYTES = 131_072;

/** How a file is compressed. */
export type Compression = 'none' | keyof typeof MAGIC;

/** Returns how a file is compressed, by its first bytes. */
export function compressionOf(first: Buffer): Compression {
  const names = Object.keys(MAGIC) as (keyof typeof MAGIC)[];
  return names.find((name) => MAGIC[name].every((byte, i) => first[i] === byte)) ?? 'none';
}

/** A compressed file that ends too early, or is damaged. What was read before it is valid. */
export class DamagedError extends Error {}

/** A file whose compression this version of Node can't read. */
export class UnknownCompressionError extends Error {}

/**
 * Decompresses chunks. Everything before a damage is yielded.
 *
 * @throws {DamagedError} At the end of what can be read.
 * @throws {UnknownCompressionError} For zstd, which Node has since version 22.15.
 */
export async function* decompressed(
  chunks: AsyncIterable<Buffer>,
  compression: Exclude<Compression, 'none'>,
): AsyncGenerator<Buffer> {
  const stream = decompressor(compression);
  const drain = new Drain(stream);
  try {
    for await (const chunk of chunks) {
      yield* drain.until(new Promise<void>((resolve) => stream.write(chunk, () => resolve())));
      // Some programs fill up a file with zeros after the data. Node ends there, and calls nothing back for the rest.
      if (drain.hasEnded) return;
    }
    // Not before all is read: an error discards what is still in the stream.
    stream.end();
    yield* drain.until();
  } catch (error) {
    throw damageOf(error);
  } finally {
    stream.destroy();
  }
}

function decompressor(compression: Exclude<Compression, 'none'>): Gunzip {
  if (compression === 'gzip') return zlib.createGunzip({ chunkSize: CHUNK_BYTES });
  const create = (zlib as { createZstdDecompress?: (options: object) => Gunzip }).createZstdDecompress;
  if (create === undefined) {
    throw new UnknownCompressionError(
      `it is compressed with zstd, which Node reads since version 22.15; this is ${process.version}. Decompress it first: zstdcat file.zst | sluice replay - …`,
    );
  }
  return create({ chunkSize: CHUNK_BYTES });
}

function damageOf(error: unknown): unknown {
  const code = String((error as NodeJS.ErrnoException).code);
  if (code === 'Z_BUF_ERROR') return new DamagedError('the compressed file ends too early');
  if (code.startsWith('Z_') || code.startsWith('ZSTD_')) return new DamagedError('the compressed file is damaged');
  return error;
}

/** Reads everything that a stream has, until something else has happened or the stream has ended. */
class Drain {
  hasEnded = false;
  readonly #stream: Gunzip;
  #failure: unknown;
  #wake: () => void = () => undefined;

  constructor(stream: Gunzip) {
    this.#stream = stream;
    stream.on('readable', () => this.#wake());
    stream.on('end', () => {
      this.hasEnded = true;
      this.#wake();
    });
    stream.on('error', (error) => {
      this.#failure = error;
      this.#wake();
    });
  }

  async *until(event?: Promise<void>): AsyncGenerator<Buffer> {
    let isOver = false;
    void event?.then(() => {
      isOver = true;
      this.#wake();
    });
    for (;;) {
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      for (let chunk = this.#read(); chunk !== null; chunk = this.#read()) yield chunk;
      if (this.#failure !== undefined) throw this.#failure;
      if (isOver || this.hasEnded) return;
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await woken;
    }
  }

  #read(): Buffer | null {
    return this.#stream.read() as Buffer | null;
  }
}
