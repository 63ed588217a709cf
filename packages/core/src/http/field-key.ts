/** Names that were asked for: those of our fields, which are few. */
const keys = new Map<string, string>();

/**
 * The name of a field as Node and Fastify keep it, in lower case. It is made once for each name, and kept: for the names
 * of our fields, never for those that a request brings.
 */
export function fieldKey(name: string): string {
  let key = keys.get(name);
  if (key === undefined) {
    key = name.toLowerCase();
    keys.set(name, key);
  }
  return key;
}
