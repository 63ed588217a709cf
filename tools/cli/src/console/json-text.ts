/** Returns a result as JSON, with a line end. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, jsonNumber, 2)}\n`;
}

/** JSON has no infinity: the figures of unlimited and blocked ids become text. */
function jsonNumber(_name: string, value: unknown): unknown {
  return value === Infinity ? 'Infinity' : value;
}
