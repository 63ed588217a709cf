import { IpAddress } from '../ids/ip-address.ts';
import { forwardedFor, forwardedStart } from './forwarded-header.ts';

/**
 * How a header names the hops of a request. It is read from its end, element by element, because its beginning is
 * whatever the client sent: nothing is split, and what no trusted proxy vouches for is not even looked at.
 */
export interface AddressHeader {
  /** The header's name in lower case, as Node has it. */
  readonly name: string;
  /** Where the element that ends before `end` starts. */
  startOfElement(header: string, end: number): number;
  /** The address that an element names; `undefined` when it names none. */
  addressOf(element: string): IpAddress | undefined;
}

/** The way to read a header: `x-forwarded-for`, `forwarded` (RFC 7239), or any header with one address in it. */
export function addressHeader(name: string): AddressHeader {
  if (name === 'x-forwarded-for') return { name, startOfElement: afterLastComma, addressOf: nodeAddress };
  if (name === 'forwarded') return { name, startOfElement: forwardedStart, addressOf: forwardedAddress };
  // One address: a list of them is no address, and names nobody.
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
 * The address of a hop. `203.0.113.7:4711`, `[2001:db8::1]` and `[2001:db8::1]:4711` lose port and brackets (a port
 * may be obfuscated, RFC 7239 section 6.2); the end of an IPv6 address without brackets is never taken for a port.
 * `unknown`, `_hidden` (section 6.3) and everything else are no address.
 */
function nodeAddress(text: string): IpAddress | undefined {
  const node = text.trim();
  if (node.length > MAX_NODE_LENGTH) return undefined;
  const [, host = node] = IPV4_WITH_PORT.exec(node) ?? BRACKETED.exec(node) ?? [];
  return IpAddress.parse(host);
}
