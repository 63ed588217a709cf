import { expect, test } from 'vitest';
import { Problems } from '../src/nodes/problems.ts';
import { treeOf } from '../src/sources/tree.ts';
import type { Content } from '../src/sources/source.ts';

const NAMES = { file: 'The tables file', demand: 'a mapping of tables', remedy: 'For example tables: …' };

function read(content: unknown): { root: unknown; messages: readonly string[] } {
  const problems = new Problems();
  const root = treeOf(content as Content, NAMES, problems);
  return { root, messages: problems.list.map(({ message }) => message) };
}

const text = (yaml: string) => ({ bytes: new TextEncoder().encode(yaml) });

test('a mapping is the root, from a text and from a function', () => {
  expect(read(text('http: {}\n')).root).toMatchObject({ kind: 'mapping' });
  expect(read({ value: { http: {} } }).root).toMatchObject({ kind: 'mapping' });
});

test.each([
  ['nothing', ''],
  ['a comment', '# tables\n'],
  ['null', 'null\n'],
])('a file of %s is empty', (_, yaml) => {
  expect(read(text(yaml))).toEqual({ root: undefined, messages: ['The tables file is empty. For example tables: …'] });
});

test.each([
  ['a list', text('- 1\n')],
  ['a number', text('5\n')],
  ['bytes that are not UTF-8', { bytes: Uint8Array.of(0xff, 0xfe, 0xff) }],
  ['a source that was rejected', { rejected: 'it is gone' }],
])('%s is a problem', (_, content) => {
  const { root, messages } = read(content);
  expect(root).toBeUndefined();
  expect(messages).toHaveLength(1);
});
