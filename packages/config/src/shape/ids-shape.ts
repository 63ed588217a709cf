import { refusal, type Mapping, type Node, type Scalar } from '../node.ts';
import type { Place } from '../place.ts';
import { ID_NAMES } from './definition.ts';
import { Fields } from './fields.ts';

/** An id as it is written. */
export interface ListedId {
  readonly text: string;
  readonly at: Place;
}

const DEMAND = 'text or a number';
const REMEDY = 'Quote it, if that is the id.';

/** Reads an id in either form: by itself, or with a comment. Notes what is wrong with it. */
export function idOf(item: Node, fields: Fields): ListedId | undefined {
  return item.kind === 'mapping' ? commentedId(item, fields) : plainId(item, fields, `${fields.where}.ids[]`);
}

function commentedId(item: Mapping, outer: Fields): ListedId | undefined {
  const where = `${outer.where}.ids[]`;
  const fields = outer.within(where, item, ID_NAMES);
  const comment = fields.node('comment');
  if (comment !== undefined && !isComment(comment)) {
    fields.note(comment.at, refusal(`${where}.comment`, 'text', comment, 'Quote it, or leave it out.'));
  }
  const id = fields.node('id');
  if (id !== undefined) return plainId(id, fields, `${where}.id`);
  const remedy = 'For example { id: 12345678, comment: ticket 4711 }.';
  fields.note(item.at, `\`${where}.id\` must be given: ${DEMAND}. ${remedy}`);
  return undefined;
}

function plainId(node: Node, fields: Fields, option: string): ListedId | undefined {
  if (node.kind === 'scalar' && isText(node)) return { text: node.text!, at: node.at };
  fields.note(node.at, refusal(option, DEMAND, node, REMEDY));
  return undefined;
}

/** What is written, digit by digit: `012345` and numbers of 20 digits stay as they are. */
function isText({ value, text }: Scalar): boolean {
  if (text === undefined || text === '') return false;
  return typeof value === 'string' || typeof value === 'bigint' || Number.isFinite(value);
}

function isComment(node: Node): boolean {
  return node.kind === 'scalar' && (node.value === null || ['string', 'number'].includes(typeof node.value));
}
