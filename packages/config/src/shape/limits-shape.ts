// The room shape: the fields of limits and overrides, and the JSON schemas.
import type { AtMost } from '@sluice/core';
import {
  boundsOf,
  checkAtMost,
  checkLimitName,
  overshootOf,
  rateKind,
  type Exactness,
  type Rate,
} from '@sluice/core/kit';
import type { Problems } from '../nodes/problems.ts';
import { wrongFile, wrongValue, shownNode, type Entry, type Mapping, type Node } from '../nodes/node.ts';
import { BEGINNING, shownPosition, type Position } from '../nodes/position.ts';
import type { EarlyItems } from '../text/yaml-text.ts';
import { borrowOf, type BorrowRow } from './borrow-shape.ts';
import { COMMON_FIELDS, LIMIT_FIELDS, RATE_FIELDS, WINDOW_FIELD } from './definition.ts';
import { Fields } from './fields.ts';
import { kindIn, numbersIn, type NumbersRow } from './numbers-shape.ts';

/** One limit of a file of defaults. */
export interface LimitRow {
  readonly name: string;
  readonly at: Position;
  /** `undefined` if they are wrong. */
  readonly numbers: NumbersRow | undefined;
  readonly atMost: AtMost | undefined;
  /** Of a rate, whether it is exact, as in code. */
  readonly exactness: Exactness;
  readonly idFormat: { readonly name: string; readonly at: Position } | undefined;
  /** Whether it has a `load`. Such a limit needs no key in code. */
  readonly isLoad: boolean;
  readonly disabled: boolean;
  readonly hidden: boolean;
  /** How the limit borrows; undefined if it does not. */
  readonly borrow: BorrowRow | undefined;
  /** Where its `count` is written. */
  readonly countAt: Position;
}

/** The result of reading a text or data: the first items of an outermost list, then the root with the rest. */
export type Reading = Generator<EarlyItems, Node | undefined>;

const FILE = 'The limits file';
const KNOWN = Object.keys(LIMIT_FIELDS);
const { overshoot, exact, ...OTHER_FIELDS } = RATE_FIELDS;
const FILE_REMEDY = 'Write each limit under its name, for example `NewOrders: { count: 300, period: 180m }`.';

/** Validates defaults, and yields the limits one by one. */
export function* limitRows(reading: Reading, problems: Problems): Generator<LimitRow> {
  const root = rootOf(reading);
  if (problems.unreadable) return;
  if (root === undefined || (root.kind === 'scalar' && root.value === null)) {
    problems.addUnreadable(root?.at ?? BEGINNING, `${FILE} is empty. ${FILE_REMEDY}`);
  } else if (root.kind !== 'mapping') {
    problems.addUnreadable(root.at, wrongFile(FILE, 'a mapping of limits by name', root, FILE_REMEDY));
  } else {
    yield* namedRows(root.entries, root.at, problems);
  }
}

function* namedRows(entries: Iterable<Entry>, at: Position, problems: Problems): Generator<LimitRow> {
  const names = new Map<string, { readonly name: string; readonly at: Position }>();
  for (const { key, value } of entries) {
    const name = limitName(key, problems);
    if (name === undefined) continue;
    const first = names.get(name.toLowerCase());
    if (first === undefined) names.set(name.toLowerCase(), { name, at: key.at });
    else noteTwice(problems, { name, at: key.at }, first);
    const row = limitRow(name, key.at, value, problems);
    if (first === undefined) yield row;
  }
  if (names.size === 0 && problems.count === 0) problems.addUnreadable(at, `${FILE} has no limit. ${FILE_REMEDY}`);
}

/** Returns the name of a limit, or `undefined`, with a problem, if the key is not a valid name. */
export function limitName(key: Node, problems: Problems): string | undefined {
  try {
    const name: unknown = key.kind === 'scalar' ? key.text : shownNode(key);
    checkLimitName('name of a limit', name);
    return name;
  } catch (error) {
    problems.add(key.at, (error as Error).message);
    return undefined;
  }
}

function noteTwice(
  problems: Problems,
  { name, at }: { readonly name: string; readonly at: Position },
  first: { readonly name: string; readonly at: Position },
): void {
  const [spelled, remedy] =
    first.name === name ? ['', 'Keep one.'] : [` as \`${first.name}\``, 'Names must differ by more than case.'];
  problems.add(
    at,
    `The limit \`${name}\` is defined twice, first${spelled} at ${shownPosition(first.at)}. ${remedy}`,
    name,
  );
}

function limitRow(name: string, at: Position, node: Node, problems: Problems): LimitRow {
  if (node.kind !== 'mapping') {
    const remedy = 'For example { count: 300, period: 180m }; in YAML, write each field on its own line, indented.';
    problems.add(node.at, wrongValue(name, 'a mapping of fields', node, remedy), name);
    return {
      name,
      at,
      numbers: undefined,
      atMost: undefined,
      exactness: {},
      idFormat: undefined,
      isLoad: false,
      disabled: false,
      hidden: false,
      borrow: undefined,
      countAt: at,
    };
  }
  const fields = new Fields({ where: name, limit: name, known: KNOWN }, node, problems);
  const idFormat = fields.value('idFormat', COMMON_FIELDS.idFormat) as string | undefined;
  const kind = kindIn(fields);
  const numbers = numbersIn(fields, kind);
  const isRate = kind === rateKind;
  const atMost = isRate ? atMostOf(fields) : undefined;
  if (numbers !== undefined && atMost !== undefined) {
    fields.attempt(() => checkBounds(name, numbers.rate, { atMost, own: numbers.rate }), fields.positionOf('atMost'));
  }
  return {
    name,
    at,
    numbers,
    atMost,
    exactness: isRate ? exactnessOf(fields) : {},
    idFormat: idFormat === undefined ? undefined : { name: idFormat, at: fields.node('idFormat')!.at },
    isLoad: fields.has('load'),
    disabled: fields.value('disabled', COMMON_FIELDS.disabled) === true,
    hidden: fields.value('hidden', COMMON_FIELDS.hidden) === true,
    borrow: isRate ? borrowOf(fields, numbers?.rate) : undefined,
    countAt: fields.node('count')?.at ?? at,
  };
}

/** The combination with the other fields is validated as in code. */
function exactnessOf(fields: Fields): Exactness {
  const { values } = fields.values({ overshoot, exact });
  fields.checked(() => overshootOf(fields.where, { ...fields.given(Object.keys(OTHER_FIELDS)), ...values }));
  return values;
}

/** Reads the entries of `atMost` one by one, so that each has its own position. */
function atMostOf(fields: Fields): AtMost | undefined {
  const mapping = fields.value('atMost', RATE_FIELDS.atMost) as Mapping | undefined;
  if (mapping === undefined) return undefined;
  const entries = [...mapping.entries];
  const names = entries.map(({ key }) => (key.kind === 'scalar' ? key.text! : shownNode(key)));
  const where = `${fields.where}.atMost`;
  const inner = fields.within(where, { ...mapping, entries }, names);
  if (entries.length === 0) return inner.attempt(() => void boundsOf(where, {}), mapping.at);
  const windows = names.map((name, i) => {
    const window = inner.value(name, WINDOW_FIELD) as string | undefined;
    const isNumber = inner.attempt(() => boundsOf(where, { [name]: '1s' }), entries[i]!.key.at) !== undefined;
    return isNumber && window !== undefined ? ([name, window] as const) : undefined;
  });
  return windows.every((window) => window !== undefined) ? Object.fromEntries(windows) : undefined;
}

/**
 * Rejects numbers that let more tokens through than `atMost` of their limit allows.
 *
 * @param where - The name of the limit.
 * @param own - The numbers of the limit itself.
 */
export function checkBounds(
  where: string,
  rate: Rate,
  { atMost, own }: { readonly atMost: AtMost; readonly own: Rate },
): void {
  checkAtMost(where, rate, { rate: own, bounds: boundsOf(`${where}.atMost`, atMost), borrow: undefined });
}

/** Returns the root of a text that must not be a list. */
export function rootOf(reading: Reading): Node | undefined {
  for (;;) {
    const step = reading.next();
    if (step.done === true) return step.value;
    const { items, at } = step.value;
    // Defaults must be a mapping, so a list is rejected before the rest of it is read.
    if (items.length > 0) return { kind: 'list', items, at };
  }
}
