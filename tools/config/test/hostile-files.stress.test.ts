import { describe, expect, it } from 'vitest';
import { problemsOf } from './written-files.ts';
import { sized } from '../../../test/sized.ts';
import { workedMs } from '../../../test/worked-ms.ts';

/** The maximum of YAML. */
const SIZE = 2 ** 18;
const filled = (part: string, head = '', tail = ''): string =>
  head + part.repeat(Math.floor((SIZE - head.length - tail.length) / part.length)) + tail;

describe('files of the maximum size of YAML are rejected, or read, within four seconds of work:', () => {
  it.each<[what: string, text: string, problem: string]>([
    ['line feeds', filled('\n'), 'is empty'],
    ['line ends of Windows', filled('\r\n'), 'is empty'],
    ['spaces and line feeds', filled(' \n'), 'is empty'],
    ['tabs and line feeds', filled('\t\n'), 'is empty'],
    ['comments', filled('# x\n'), 'is empty'],
    ['comments without text', filled('#\n'), 'is empty'],
    ['comments that are indented', filled('  # x\n'), 'is empty'],
    ['one comment', filled('#'), 'is empty'],
    ['one word', filled('a'), 'at most 65536 characters'],
    ['words', filled('a\n'), 'at most 65536 characters'],
    ['an open quote', filled("'"), 'at most 65536 characters'],
    ['a block of text', filled(' x\n', 'a: |\n'), 'at most 65536 characters'],
    ['quotes', filled('"'), 'several values'],
    ['documents', filled('---\n'), 'one document'],
    ['ends of documents', filled('...\n'), 'one document'],
    ['directives', filled('%YAML 1.2\n'), 'Directives'],
    ['anchors', filled('&a '), 'one anchor'],
    ['tags', filled('! '), 'one anchor'],
    ['brackets', filled('['), 'nested'],
    ['brackets that close', filled(']'), 'Unexpected'],
    ['keys', filled('a:\n'), 'at most 10000 are allowed'],
    ['keys in braces', filled('a,', '{'), 'at most 10000 are allowed'],
    ['items', filled('-\n'), 'must be'],
    ['items in brackets', filled('a,', '['), 'must end with a ]'],
  ])('%s', async (_, text, problem) => {
    // Both are parsed alike.
    for (const files of [{ overrides: text }, { limits: text }].slice(0, sized(1, 2))) {
      const start = workedMs();
      const [first = ''] = await problemsOf(files);
      expect(workedMs() - start).toBeLessThan(4000);
      expect(first).toContain(problem);
      expect(first.length).toBeLessThan(1000);
    }
  });

  it.each([
    ['line feeds', '\n'],
    ['comments', '# x\n'],
  ])('a good file with %s before, within and behind', async (_, part) => {
    const third = part.repeat(Math.floor(SIZE / 3 / part.length) - 100);
    const overrides = `${third}- NewOrdersPerAccount:\n${third}    unlimited: true\n    ids: [7]\n${third}`;
    const start = workedMs();
    expect(await problemsOf({ overrides })).toEqual([]);
    expect(workedMs() - start).toBeLessThan(4000);
  });

  it('the shape that takes longest for each byte is read whole', async () => {
    const line = (id: number): string => `- NewOrdersPerAccount: {count: 6, period: 1s, ids: [${1_000_000 + id}]}\n`;
    const overrides = Array.from({ length: Math.floor(SIZE / line(0).length) }, (_, id) => line(id)).join('');
    expect(await problemsOf({ overrides })).toEqual([]);
  });
});
