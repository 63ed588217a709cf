/** Names that were asked for: those of our fields, which are few. */
const keys = new Map<string, string>();

/**
 * The name of a field as Node and Fastify keep it, in lower case. To make it for each response costs more than all else
 * of a look-up.
 */
export function fieldKey(name: string): string {
  let key = keys.get(name);
  if (key === undefined) {
    key = name.toLowerCase();
    keys.set(name, key);
  }
  return key;
}
