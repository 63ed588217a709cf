import { METHODS } from 'node:http';

const KNOWN: ReadonlySet<string> = new Set(METHODS);

/** Returns the one spelling of a method by which ids are made. All that are not registered are one: a client may send any. */
export function canonicalMethod(method: string): string {
  const name = method.toUpperCase();
  return KNOWN.has(name) ? name : 'other';
}

/** The method whose rules apply to a method without rules of its own: frameworks answer HEAD with the handler of GET. */
export function handledAs(method: string): string {
  return method === 'HEAD' ? 'GET' : method;
}
