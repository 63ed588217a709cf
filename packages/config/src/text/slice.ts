import type { CST } from 'yaml';

/** A sequence as the parser has it, in either style: with a `- ` for each item, or in brackets as JSON has it. */
export type Sequence = CST.BlockSequence | CST.FlowCollection;

type FlowItem = CST.FlowCollection['items'][number];

/** The parser looks back at the last two items of a sequence. */
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
 * Takes the finished items out of a sequence that is still parsed, as a sequence of their own.
 *
 * In brackets, what begins with the comma that ends the item before can't be the first: an item stands in for those that
 * were taken, in the slice after them and in what is left of the sequence.
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

// It ends where the next one begins, so that a comma that is missing in between is missed at that place.
function standIn({ items, offset, indent }: CST.FlowCollection): FlowItem {
  const next = items[0]!.key?.offset ?? offset + 1;
  const item: FlowItem = { start: [], value: { type: 'scalar', offset: next - 1, indent, source: '0' } };
  stoodIn.add(item);
  return item;
}

// Until a sequence has ended its parser takes each of its items for a key. What is neither a key nor a value is no item:
// the parser puts it to the one that follows.
function finished(item: FlowItem): FlowItem {
  const { start, key, sep, value } = item;
  if (value !== undefined || [...start, ...sep!].some(({ type }) => PAIR.has(type))) return item;
  const { end = [] } = key as CST.FlowScalar;
  return { start, value: { ...(key as CST.FlowScalar), end: [...end, ...sep!] } };
}

const PAIR: ReadonlySet<string> = new Set(['explicit-key-ind', 'map-value-ind']);
