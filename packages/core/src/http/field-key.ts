/** The lower-case form of each name. Only the names of our own fields are added, so the map remains small. */
const keys = new Map<string, string>();

/**
 * Returns a field name in lower case, as Node and Fastify store it. Results are cached: call it only with the names of
 * our fields, never with names from a request.
 */
export function fieldKey(name: string): string {
  let key = keys.get(name);
  if (key === undefined) {
    key = name.toLowerCase();
    keys.set(name, key);
  }
  return key;
}
