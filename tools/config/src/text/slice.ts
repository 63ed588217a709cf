import type { CST } from 'yaml';

/** A sequence token: block style with `- ` before each item, or flow style in brackets, as in JSON. */
export type Sequence = CST.BlockSequence | CST.FlowCollection;

type FlowItem = CST.FlowCollection['items'][number];

/** The parser may still read and change the last two items of a sequence. */
const STILL_OPEN = 2;

/** Whether a token is a sequence. */
export function isSequence(token: CST.Token): token is Sequence {
  return token.type === 'block-seq' || (token.type === 'flow-collection' && token.start.type === 'flow-seq-start');
}

/** Whether a token is a mapping, in either style. */
export function isMapping(token: CST.Token): token is CST.BlockMap | CST.FlowCollection {
  return token.type === 'block-map' || (token.type === 'flow-collection' && token.start.type === 'flow-map-start');
}

/**
 * Takes the finished items out of a sequence that is still being parsed, and returns them as a sequence of their own.
 *
 * A flow sequence must not begin with a comma, but each further item begins with the comma after its predecessor. A
 * placeholder item therefore replaces the items that were taken, and becomes the first item of the next slice.
 *
 * @returns The slice; `standsIn` is true if its first item is such a placeholder.
 */
export function takeSlice(sequence: Sequence): Sequence & { readonly standsIn: boolean } {
  const count = sequence.items.length - STILL_OPEN;
  if (sequence.type === 'block-seq') {
    return { ...sequence, items: sequence.items.splice(0, count), standsIn: false };
  }
  const items = sequence.items.splice(0, count);
  const standsIn = stoodIn.has(items[0]!);
  sequence.items.unshift(standIn(sequence));
  const end: CST.SourceToken[] = [
    { type: 'flow-seq-end', offset: sequence.offset, indent: sequence.indent, source: ']' },
  ];
  return { ...sequence, items: items.map(finished), end, standsIn };
}

const stoodIn = new WeakSet<FlowItem>();

// The placeholder ends where the next item begins, so that a missing comma is reported at the right position.
function standIn({ items, offset, indent }: CST.FlowCollection): FlowItem {
  const next = items[0]!.key?.offset ?? offset + 1;
  const item: FlowItem = { start: [], value: { type: 'scalar', offset: next - 1, indent, source: '0' } };
  stoodIn.add(item);
  return item;
}

// Until a flow sequence has ended, the parser treats each of its items as a key. Here such an item becomes a value,
// unless it is a pair. It always has a key: the parser adds tokens that belong to no key or value to the next item.
function finished(item: FlowItem): FlowItem {
  const { start, key, sep, value } = item;
  if (value !== undefined || [...start, ...sep!].some(({ type }) => PAIR.has(type))) return item;
  const { end = [] } = key as CST.FlowScalar;
  return { start, value: { ...(key as CST.FlowScalar), end: [...end, ...sep!] } };
}

const PAIR: ReadonlySet<string> = new Set(['explicit-key-ind', 'map-value-ind']);
