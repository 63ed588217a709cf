/** Where the last element of a `Forwarded` header that ends before `end` starts: behind a comma outside of quotes. */
export function forwardedStart(header: string, end: number): number {
  // From the end, where a quote opens and closes does not depend on what the client wrote further left. Read from
  // the beginning, one quote of the client's (`for="`) would swallow what the proxy appended. A quote behind a
  // backslash is inside of a value: the one that opens it stands behind a `=`.
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
 * The node identifier of the parameter `for` in one element, such as `for="[2001:db8::1]:4711";proto=https`.
 * `undefined` when there is none, or two, or when the element is malformed.
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
