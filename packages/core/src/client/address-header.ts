import { IpAddress } from '../ids/ip-address.ts';
import { forwardedFor, forwardedStart } from './forwarded-header.ts';

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
