import { idsOf } from '../ids.mjs';
import { CallTemplate } from './frames.mjs';

export const DOMAIN = 'ingress';
export const KEY = 'account';
export const LIMIT = 'PerAccount';

/** The n-th id. All have the same length. */
export const idOf = idsOf['account ids'];

/** A call of Envoy with one descriptor of one entry. */
export function callTemplate() {
  const entry = [...text(1, KEY), ...text(2, idOf(0))];
  const descriptor = bytes(1, entry);
  return new CallTemplate(Buffer.from([...text(1, DOMAIN), ...bytes(2, descriptor)]), idOf(0));
}

/**
 * @param {number} field
 * @param {string} value
 */
function text(field, value) {
  return bytes(field, [...Buffer.from(value)]);
}

/**
 * A field of a message, shorter than 128 bytes.
 *
 * @param {number} field
 * @param {readonly number[]} content
 */
function bytes(field, content) {
  return [field * 8 + 2, content.length, ...content];
}
