/**
 * Returns the start of the last element of a `Forwarded` header that ends before `end`: after a comma outside of
 * quotes.
 */
export function forwardedStart(header: string, end: number): number {
  // Scanning from the end, the client can't influence where quotes open and close in the part that proxies appended.
  // Scanning from the beginning, a single quote of the client (`for="`) would swallow that part. A quote after a
  // backslash is inside a value; the quote that opens the value follows a `=`.
  let quoted = false;
  for (let index = end - 1; index >= 0; index--) {
    const character = header[index];
    if (character === '"') quoted = !quoted || header[index - 1] === '\\';
    else if (character === ',' && !quoted) return index + 1;
  }
  return 0;
}

const MAX_ELEMENT_LENGTH = 1024;
const PAIR = /[ \t]*([!#$%&'*+.^_`|~\w-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s";,]*))[ \t]*(?:;|$)/y;

/**
 * Returns the node identifier of the parameter `for` in one element, such as `for="[2001:db8::1]:4711";proto=https`;
 * `undefined` when there is none or more than one, or when the element is malformed.
 *
 * @see RFC 7239 sections 4 and 5.2.
 */
export function forwardedFor(element: string): string | undefined {
  if (element.length > MAX_ELEMENT_LENGTH) return undefined;
  let node: string | undefined;
  PAIR.lastIndex = 0;
  while (PAIR.lastIndex < element.length) {
    const pair = PAIR.exec(element);
    if (pair === null) return undefined;
    const [, name, quotedValue, value = unescaped(quotedValue!)] = pair;
    if (name!.toLowerCase() !== 'for') continue;
    if (node !== undefined) return undefined;
    node = value;
  }
  return node;
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, '$1');
}
