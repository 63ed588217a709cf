import { accountId } from '@sluice/core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { parserProgram } from '../src/sources/parser-program.ts';

const builtFile = (path: string): string => new URL(`../dist/${path}`, import.meta.url).href;

describe('a parsing thread runs', () => {
  it('the file of the build that its module is in', () => {
    expect(parserProgram(builtFile('index.js'))?.href).toBe(builtFile('parse-worker.js'));
    expect(parserProgram(builtFile('cjs/index.js'))?.href).toBe(builtFile('cjs/parse-worker.js'));
  });

  it('the build of the ES modules, for the sources', () => {
    const source = new URL('../src/sources/parser-thread.ts', import.meta.url).href;
    expect(parserProgram(source)?.href).toBe(builtFile('parse-worker.js'));
  });

  it('nothing where a bundler left its file behind', () => {
    expect(parserProgram(builtFile('deeper/bundle.js'))).toBeUndefined();
    expect(parserProgram(undefined)).toBeUndefined();
  });
});

describe('without a file for its thread', () => {
  afterEach(() => {
    vi.doUnmock('../src/sources/parser-program.ts');
    vi.resetModules();
  });

  async function loadedText(bytes: number): Promise<readonly string[]> {
    vi.doMock('../src/sources/parser-program.ts', () => ({ PARSER_PROGRAM: undefined }));
    const { loadLimits } = await import('@sluice/config');
    const text = 'Orders: { count: 300, period: 180m }\n'.padEnd(bytes - 1, '#') + '\n';
    const { limits } = await loadLimits({ defaults: () => text, keys: { Orders: accountId() } });
    return Object.keys(limits);
  }

  it('a text up to 256 KiB is parsed in the event loop', async () => {
    expect(await loadedText(256 * 1024)).toEqual(['Orders']);
  });

  it('a larger text is rejected, with a remedy for the bundle', async () => {
    await expect(loadedText(256 * 1024 + 1)).rejects.toThrow(
      'A text of more than 262144 bytes is parsed in a thread, but the file of the thread is missing: a bundler left ' +
        'it out. Keep the packages of Sluice out of the bundle, for example with --external:@sluice/* of esbuild.',
    );
  });
});
