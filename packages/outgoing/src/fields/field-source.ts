/** The fields of an answer: a `Headers` object is one. Names are in lower case. */
export interface FieldSource {
  /** Returns a field, or all its lines; `null` or `undefined` if there is none. */
  get(name: string): string | readonly string[] | null | undefined;
}

/** Node takes 16 kB for all fields together; nothing that is learnt here is longer than one line. */
const MOST_CHARACTERS = 8192;

/** Returns a field with its lines joined by commas. A field that is too long to be meant counts as none. */
export function fieldOf(fields: FieldSource, name: string): string | undefined {
  const value = fields.get(name);
  if (typeof value === 'string') return value.length <= MOST_CHARACTERS ? value : undefined;
  if (!Array.isArray(value)) return undefined;
  let text: string | undefined;
  for (const line of value as readonly unknown[]) {
    text = text === undefined ? String(line) : `${text}, ${String(line)}`;
    if (text.length > MOST_CHARACTERS) return undefined;
  }
  return text;
}
