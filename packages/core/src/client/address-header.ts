import { IpAddress } from '../ids/ip-address.ts';

/**
 * How a header lists the hops of a request. It is read element by element from its end, because its beginning is
 * whatever the client sent: the header is not split, and the part that no trusted proxy added is not parsed.
 */
export interface AddressHeader {
  /** The header's name in lower case, as in Node's `headers`. */
  readonly name: string;
  /** Returns the start of the element that ends before `end`. */
  startOfElement(header: string, end: number): number;
  /** Returns the address in an element; `undefined` when it contains no valid address. */
  addressOf(element: string): IpAddress | undefined;
}

/** Returns how to read a header: `x-forwarded-for`, `forwarded` (RFC 7239), or any header with a single address. */
export function addressHeader(name: string): AddressHeader {
  if (name === 'x-forwarded-for') return { name, startOfElement: afterLastComma, addressOf: nodeAddress };
  if (name === 'forwarded') return { name, startOfElement: forwardedStart, addressOf: forwardedAddress };
  // The whole value is one element: a list is not a valid address.
  return { name, startOfElement: () => 0, addressOf: nodeAddress };
}

function afterLastComma(header: string, end: number): number {
  return header.lastIndexOf(',', end - 1) + 1;
}

function forwardedAddress(element: string): IpAddress | undefined {
  const node = forwardedFor(element);
  return node === undefined ? undefined : nodeAddress(node);
}

// The longest address in brackets, with a port and a long zone, is shorter.
const MAX_NODE_LENGTH = 128;
const IPV4_WITH_PORT = /^([\d.]+):(?:\d{1,5}|_[\w.-]+)$/;
const BRACKETED = /^\[([^\]]*:[^\]]*)\](?::(?:\d{1,5}|_[\w.-]+))?$/;

/**
 * Parses the address of a hop. The port and the brackets of `203.0.113.7:4711`, `[2001:db8::1]` and
 * `[2001:db8::1]:4711` are removed (a port may be obfuscated, RFC 7239 section 6.2). The end of an IPv6 address without
 * brackets is never read as a port. `unknown`, `_hidden` (RFC 7239 section 6.3) and all other text are not addresses.
 */
function nodeAddress(text: string): IpAddress | undefined {
  const node = text.trim();
  if (node.length > MAX_NODE_LENGTH) return undefined;
  const [, host = node] = IPV4_WITH_PORT.exec(node) ?? BRACKETED.exec(node) ?? [];
  return IpAddress.parse(host);
}

/**
 * Returns the start of the last element of a `Forwarded` header that ends before `end`: after a comma outside of
 * quotes.
 */
function forwardedStart(header: string, end: number): number {
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
function forwardedFor(element: string): string | undefined {
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
