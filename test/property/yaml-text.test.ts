import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isMap, isSeq, LineCounter, parseAllDocuments, type Node as LibraryNode, type Scalar } from 'yaml';
import { Problems } from '../../tools/config/src/nodes/problems.ts';
import type { Node } from '../../tools/config/src/nodes/node.ts';
import { lineAndColumn } from '../../tools/config/src/nodes/position.ts';
import { readYaml } from '../../tools/config/src/text/yaml-text.ts';
import { yamlText } from './yaml-texts.ts';

/** Line, column, and the value: a scalar with its text as written, the items of a list, or the pairs of a mapping. */
type Value = readonly [line: number, column: number, ...value: unknown[]];

interface Reading {
  /** The root. `undefined` if the text has no document. */
  readonly value: Value | undefined;
  /** The lines of the problems. Empty if the text was accepted. */
  readonly rejectedAt: readonly number[];
}

function read(text: string): Reading {
  const problems = new Problems();
  const reading = readYaml(text, problems);
  let step = reading.next();
  while (step.done !== true) step = reading.next();
  const rejectedAt = problems.list.map(({ at }) => lineAndColumn(at as number).line);
  return { value: step.value && valueOf(step.value), rejectedAt };
}

function valueOf(node: Node): Value {
  const { line, column } = lineAndColumn(node.at as number);
  if (node.kind === 'scalar') return [line, column, node.value, node.text];
  if (node.kind === 'list') return [line, column, [...node.items].map(valueOf)];
  return [line, column, [...node.entries].map(({ key, value }) => [valueOf(key), valueOf(value)])];
}

/** Reads a text with the `yaml` library alone. As for us, a second document is a problem. */
function readByLibrary(text: string): Reading {
  const counter = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: counter, uniqueKeys: false, prettyErrors: false });
  if ('empty' in documents) return { value: undefined, rejectedAt: [] };
  const [document, second] = documents;
  const rejectedAt = documents.flatMap(({ errors }) => errors).map(({ pos }) => counter.linePos(pos[0]).line);
  if (second !== undefined) rejectedAt.push(counter.linePos(second.range[0]).line);
  return { value: libraryValueOf(document!.contents!, counter), rejectedAt };
}

function libraryValueOf(node: LibraryNode, counter: LineCounter): Value {
  const { line, col } = counter.linePos(node.range![0]);
  if (isSeq<LibraryNode>(node)) return [line, col, node.items.map((item) => libraryValueOf(item, counter))];
  if (!isMap<LibraryNode, LibraryNode | null>(node))
    return [line, col, (node as Scalar).value, (node as Scalar).source];
  const pairs = node.items.map(({ key, value }) => {
    const name = libraryValueOf(key, counter);
    return [name, value === null ? [name[0], name[1], null, ''] : libraryValueOf(value, counter)];
  });
  return [line, col, pairs];
}

test('a short text is read as the yaml library reads it: the same values and positions, a problem at the same line', () => {
  fc.assert(
    fc.property(yamlText, (text) => {
      const ours = read(text);
      const theirs = readByLibrary(text);
      const accepted = ours.rejectedAt.length === 0;
      expect(theirs.rejectedAt.length === 0).toBe(accepted);
      expect(accepted && ours.value).toEqual(accepted && theirs.value);
      expect(Math.min(...ours.rejectedAt)).toBe(Math.min(...theirs.rejectedAt));
    }),
  );
});
