import type { Override } from '@sluice/core';
import { overrideRate } from '@sluice/core/kit';
import type { Problems } from '../nodes/problems.ts';
import { wrongFile, wrongValue, type Entry, type Mapping, type Node, type Scalar } from '../nodes/node.ts';
import { BEGINNING, type Position } from '../nodes/position.ts';
import {
  ID_NAMES,
  MARK_NAMES,
  OVERRIDE_FIELDS,
  OVERRIDE_KIND_FIELDS,
  OVERRIDE_NUMBERS,
  UNTIL_FIELD,
} from './definition.ts';
import { Fields } from './fields.ts';
import { kindOfOverride } from './kinds.ts';
import { limitName } from './limits-shape.ts';

/** A part of the ids of one override. */
export interface OverrideRow {
  /** Left out if the item is not an override. Such a row lets the event loop run between many wrong items. */
  readonly limit?: string;
  readonly at: Position;
  /** The index of the override in the file. All rows of one override have the same. */
  readonly entry: number;
  /** `undefined` if it is wrong. */
  readonly override: Override | undefined;
  /** When it ends, as it is written; `undefined` if it does not. */
  readonly until: string | undefined;
  readonly ids: readonly string[];
  /** The position of each id. */
  readonly places: readonly Position[];
  /** The file of the ids, if the override names one instead of a list. */
  readonly idsFile?: { readonly name: string; readonly at: Position };
}

type Entries = Omit<OverrideRow, 'ids' | 'places' | 'idsFile'>;

/** How many ids are read for one row. Validating that many takes well under a millisecond. */
const IDS_PER_ROW = 256;
const FILE = 'The overrides file';
const FILE_REMEDY = 'Write a list of overrides, each under the name of its limit, or [] for none.';
const EXAMPLE = 'For example `- NewOrders: { count: 600, period: 180m, ids: [12345678] }`.';
const MARK_EFFECTS = { unlimited: 'lets the ids through', blocked: 'denies the ids' } as const;
const KNOWN = [...Object.keys(OVERRIDE_FIELDS), 'until', 'ids'];

/**
 * Validates overrides, and yields them a few hundred ids at a time.
 *
 * @param root - `undefined` if the file is empty or can't be read.
 */
export function* overrideRows(root: Node | undefined, problems: Problems): Generator<OverrideRow> {
  if (problems.unreadable) return;
  if (root === undefined || (root.kind === 'scalar' && root.value === null)) {
    problems.addUnreadable(root?.at ?? BEGINNING, `${FILE} is empty. ${FILE_REMEDY}`);
  } else if (root.kind === 'list') {
    let entry = 0;
    for (const item of root.items) yield* itemRows(item, entry++, problems);
  } else {
    problems.addUnreadable(root.at, wrongFile(FILE, 'a list', root, FILE_REMEDY));
  }
}

function* itemRows(item: Node, entry: number, problems: Problems): Generator<OverrideRow> {
  if (item.kind !== 'mapping') {
    problems.add(item.at, wrongValue('override', 'a mapping of a limit to its fields', item, EXAMPLE));
    yield noRow(item, entry);
    return;
  }
  const [named, second] = [...item.entries];
  if (named === undefined || second !== undefined) {
    const at = second?.key.at ?? item.at;
    const remedy = 'Start each override with `- `, and indent its fields deeper than the name of its limit.';
    problems.add(
      at,
      `An override must have exactly one limit, but this one has ${second ? 'several' : 'none'}. ${remedy}`,
    );
    yield noRow(item, entry);
    return;
  }
  yield* overrideRowsOf(named, entry, problems);
}

function* overrideRowsOf({ key, value }: Entry, entry: number, problems: Problems): Generator<OverrideRow> {
  const limit = limitName(key, problems);
  if (limit === undefined) {
    yield noRow(key, entry);
    return;
  }
  if (value.kind !== 'mapping') {
    problems.add(value.at, wrongValue(limit, 'a mapping of fields', value, EXAMPLE), limit);
    yield { limit, at: key.at, entry, override: undefined, until: undefined, ids: [], places: [] };
    return;
  }
  const fields = new Fields({ where: limit, limit, known: KNOWN }, value, problems);
  const until = fields.value('until', UNTIL_FIELD) as string | undefined;
  const of: Entries = { limit, at: key.at, entry, override: overrideOf(fields), until };
  const ids = fields.node('ids');
  if (ids?.kind === 'list') yield* idRows(of, ids.items, fields, ids.at);
  else if (ids?.kind === 'scalar' && typeof ids.value === 'string' && ids.value !== '') {
    yield { ...of, ids: [], places: [], idsFile: { name: ids.value, at: ids.at } };
  } else {
    noteIds(fields, ids);
    yield { ...of, ids: [], places: [] };
  }
}

function overrideOf(fields: Fields): Override | undefined {
  const mark = MARK_NAMES.find((name) => fields.has(name));
  if (mark === undefined) return numbersOf(fields);
  const marked = fields.value(mark, OVERRIDE_FIELDS[mark]!);
  const others = Object.keys(OVERRIDE_FIELDS).filter((name) => name !== mark && fields.has(name));
  for (const name of others) {
    const message = `\`${fields.where}.${name}\` must be left out beside \`${mark}\`, which ${MARK_EFFECTS[mark]}.`;
    fields.note(fields.positionOf(name), `${message} Keep one of the two.`);
  }
  return marked === true ? mark : undefined;
}

/** Validates each number of an override, and then all together, as in code. */
function numbersOf(fields: Fields): Override | undefined {
  const kind = kindOfOverride(Object.keys(OVERRIDE_NUMBERS).filter((name) => fields.has(name)));
  const { ok, values } = fields.values(
    { ...OVERRIDE_NUMBERS, ...OVERRIDE_KIND_FIELDS.get(kind) },
    kind.override.needed,
  );
  const override = values as unknown as Override;
  return ok && fields.attempt(() => overrideRate(fields.where, override, kind)) ? override : undefined;
}

function noteIds(fields: Fields, ids: Node | undefined): void {
  const option = `${fields.where}.ids`;
  const missing: Node = { kind: 'scalar', value: null, text: '', at: fields.at };
  const demand = 'a list of ids, or the path of a file with one id a line';
  fields.note(ids?.at ?? fields.at, wrongValue(option, demand, ids ?? missing, 'For example [12345678], or ids.txt.'));
}

function* idRows(of: Entries, items: Iterable<Node>, fields: Fields, at: Position): Generator<OverrideRow> {
  let listed: ListedId[] = [];
  let seen = 0;
  for (const item of items) {
    seen++;
    const id = idOf(item, fields);
    if (id !== undefined) listed.push(id);
    if (fields.isFull) break;
    if (seen % IDS_PER_ROW > 0) continue;
    yield rowOf(of, listed);
    listed = [];
  }
  if (seen === 0)
    fields.note(at, `\`${fields.where}.ids\` must have at least one id. Remove the override if it applies to none.`);
  yield rowOf(of, listed);
}

function noRow({ at }: Node, entry: number): OverrideRow {
  return { at, entry, override: undefined, until: undefined, ids: [], places: [] };
}

function rowOf(of: Entries, listed: readonly ListedId[]): OverrideRow {
  // Spreading takes several times as long, and there may be a row for each of 100,000 overrides.
  const { limit, at, entry, override, until } = of;
  return {
    limit: limit!,
    at,
    entry,
    override,
    until,
    ids: listed.map(({ text }) => text),
    places: listed.map((id) => id.at),
  };
}

/** An id as written in the file. */
export interface ListedId {
  readonly text: string;
  readonly at: Position;
}

const DEMAND = 'text or a number';
const REMEDY = 'Quote it, if that is the id.';

/** Reads an id, alone or as a mapping with a comment. Returns `undefined`, with a problem, if it is wrong. */
function idOf(item: Node, fields: Fields): ListedId | undefined {
  return item.kind === 'mapping' ? commentedId(item, fields) : plainId(item, fields, `${fields.where}.ids[]`);
}

function commentedId(item: Mapping, outer: Fields): ListedId | undefined {
  const where = `${outer.where}.ids[]`;
  const fields = outer.within(where, item, ID_NAMES);
  const comment = fields.node('comment');
  if (comment !== undefined && !isComment(comment)) {
    fields.note(comment.at, wrongValue(`${where}.comment`, 'text', comment, 'Quote it, or leave it out.'));
  }
  const id = fields.node('id');
  if (id !== undefined) return plainId(id, fields, `${where}.id`);
  const remedy = 'For example { id: 12345678, comment: ticket 4711 }.';
  fields.note(item.at, `\`${where}.id\` must be given: ${DEMAND}. ${remedy}`);
  return undefined;
}

function plainId(node: Node, fields: Fields, option: string): ListedId | undefined {
  if (node.kind === 'scalar' && isText(node)) return { text: node.text!, at: node.at };
  fields.note(node.at, wrongValue(option, DEMAND, node, REMEDY));
  return undefined;
}

/** Whether the written text can be an id. Numbers count as written: `012345` keeps its zero, 20 digits stay exact. */
function isText({ value, text }: Scalar): boolean {
  if (text === undefined || text === '') return false;
  return typeof value === 'string' || typeof value === 'bigint' || Number.isFinite(value);
}

function isComment(node: Node): boolean {
  return node.kind === 'scalar' && (node.value === null || ['string', 'number'].includes(typeof node.value));
}
