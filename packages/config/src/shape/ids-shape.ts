import { wrongValue, type Mapping, type Node, type Scalar } from '../nodes/node.ts';
import type { Position } from '../nodes/position.ts';
import { ID_NAMES } from './definition.ts';
import { Fields } from './fields.ts';

/** An id as written in the file. */
export interface ListedId {
  readonly text: string;
  readonly at: Position;
}

const DEMAND = 'text or a number';
const REMEDY = 'Quote it, if that is the id.';

/** Reads an id, alone or as a mapping with a comment. Returns `undefined`, with a problem, if it is wrong. */
export function idOf(item: Node, fields: Fields): ListedId | undefined {
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
