import { copiedResponse } from './copied-response.ts';

/** Fields of the limits by name in lower case. */
export type Fields = Map<string, { readonly name: string; readonly value: string }>;

const ALLOWED = 'Access-Control-Allow-Origin';
const EXPOSED = 'Access-Control-Expose-Headers';

/**
 * Returns a response with fields that it does not have itself. If scripts of other origins may read the response, they may
 * read these fields too.
 */
export function withFields(response: Response, fields: Fields): Response {
  const missing = [...fields.values()].filter(({ name }) => !response.headers.has(name));
  const exposed = exposedWith(response.headers, fields);
  if (exposed !== undefined) missing.push({ name: EXPOSED, value: exposed });
  // Responses to upgrades and network errors can't be copied, and have no fields.
  if (missing.length === 0 || response.status < 200) return response;
  const writable = writableOf(response);
  for (const { name, value } of missing) writable.headers.set(name, value);
  return writable;
}

/** The list of exposed fields with those of the limits; `undefined` if it stays as it is. */
function exposedWith(headers: Headers, fields: Fields): string | undefined {
  if (fields.size === 0 || !headers.has(ALLOWED)) return undefined;
  const listed = headers.get(EXPOSED) ?? '';
  const present = listed.split(',').map((name) => name.trim().toLowerCase());
  if (present.includes('*')) return undefined;
  const names = new Set([...[...fields.values()].map(({ name }) => name), 'Retry-After']);
  const missing = [...names].toSorted().filter((name) => !present.includes(name.toLowerCase()));
  if (missing.length === 0) return undefined;
  return [listed, ...missing].filter((name) => name !== '').join(', ');
}

/** Returns a response whose headers can be set: those of a response of `fetch` can't. */
function writableOf(response: Response): Response {
  try {
    response.headers.delete(PROBE);
    return response;
  } catch {
    return copiedResponse(response, response.body);
  }
}

/** A name that no response has: to delete it is an error if the headers can't be changed, and otherwise changes nothing. */
const PROBE = 'sluice-probe';
