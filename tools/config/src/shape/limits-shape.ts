// The room shape: the fields of limits and overrides, and the JSON schemas.
import type { FailurePolicy, Key, LimitDefinition } from '@sluice/core';
import { checkLimitName, ofKind, type Numbers } from '@sluice/core/kit';
import { eventLoop, type LoadOptions, type LoadSource } from '@sluice/core/load';
import type { Problems } from '../nodes/problems.ts';
import { wrongFile, wrongValue, shownNode, type Entry, type Node } from '../nodes/node.ts';
import { BEGINNING, shownPosition, type Position } from '../nodes/position.ts';
import { COMMON_FIELDS, FIELDS_OF_KINDS, fieldsOfKind, ID_FORMAT_FIELD, LIMIT_FIELDS } from './definition.ts';
import { Fields } from './fields.ts';
import { kindShownBy, kindWith } from './kinds.ts';

/** One limit of a file of defaults. */
export interface LimitRow {
  readonly name: string;
  readonly at: Position;
  /** `undefined` if they are wrong. */
  readonly numbers: NumbersRow | undefined;
  readonly idFormat: { readonly name: string; readonly at: Position } | undefined;
  /** Whether it has a `load`. Such a limit needs no key in code. */
  readonly isLoad: boolean;
  /** Where its `count` is written. */
  readonly countAt: Position;
  /** Where the name of its pool is written. */
  readonly poolAt: Position;
}

/** A key together with the settings of its limit that are made in code, not in the file. */
export interface KeyOptions<Request = unknown> {
  readonly key: Key<Request>;
  /** The policy of the limit while the store can't answer. Default: the limiter's `failure.onFailure`. */
  readonly onFailure?: FailurePolicy | undefined;
}

/** What a limit of a file is, apart from its key. */
interface NumbersRow {
  /** As in code. */
  readonly options: Readonly<Record<string, unknown>>;
  /** The option that shows its kind; undefined for a rate. */
  readonly mark: string | undefined;
  /** The options of its load. */
  readonly load: LoadOptions | undefined;
  readonly rate: Numbers;
}

/** Returns the name of the pool from which a limit borrows; undefined if it does not. */
export function poolOf({ options }: Pick<NumbersRow, 'options'>): string | undefined {
  return (options['borrow'] as { from: string } | undefined)?.from;
}

/** Returns the definition of a limit of a file with its key, as in code. It must not be wrong. */
export function definitionOf<Request>(
  { numbers }: LimitRow,
  inCode: KeyOptions<Request>,
  sourceOf: (load: LoadOptions) => LoadSource,
): LimitDefinition<Request> {
  const { options, mark, load } = numbers!;
  const definition = { ...inCode, ...options, ...(load && { load: sourceOf(load) }) };
  return mark === undefined ? (definition as LimitDefinition<Request>) : ofKind(kindWith(mark), definition);
}

const FILE = 'The limits file';
const KNOWN = Object.keys(LIMIT_FIELDS);
const KIND_NAMES = Object.keys(FIELDS_OF_KINDS);
const FILE_REMEDY = 'Write each limit under its name, for example `NewOrders: { count: 300, period: 180m }`.';

/**
 * Validates defaults, and yields the limits one by one.
 *
 * @param root - `undefined` if the file is empty or can't be read.
 */
export function* limitRows(root: Node | undefined, problems: Problems): Generator<LimitRow> {
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
    return { name, at, numbers: undefined, idFormat: undefined, isLoad: false, countAt: at, poolAt: at };
  }
  const fields = new Fields({ where: name, limit: name, known: KNOWN }, node, problems);
  const idFormat = fields.value('idFormat', ID_FORMAT_FIELD) as string | undefined;
  return {
    name,
    at,
    numbers: numbersOf(fields),
    idFormat: idFormat === undefined ? undefined : { name: idFormat, at: fields.node('idFormat')!.at },
    isLoad: fields.has('load'),
    countAt: fields.placeOf(`${name}.count`),
    poolAt: fields.placeOf(`${name}.borrow.from`),
  };
}

/** Validates each option, and then all together, as in code. With options of two kinds, each as far as possible. */
function numbersOf(fields: Fields): NumbersRow | undefined {
  const { where } = fields;
  const kind = fields.attempt(() => kindShownBy(where, fields.given(KIND_NAMES)));
  const table = kind === undefined ? FIELDS_OF_KINDS : fieldsOfKind(kind);
  const { ok, values } = fields.values({ ...table, ...COMMON_FIELDS }, kind?.needed);
  if (!ok || kind === undefined) return undefined;
  const { load, ...options } = values as { load?: LoadOptions };
  const definition = { ...options, ...(load && { load: eventLoop(load) }) };
  const parts = fields.attempt(() => kind.define(definition as never, { where, name: where }));
  return parts && { options, mark: kind.mark, load, rate: parts.rate };
}
