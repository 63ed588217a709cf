import { IpAddress } from '@sluice/core';

const BRACKETED = /^\[([^\]]+)\](?::\d+)?$/;
const WITH_PORT = /^(.+):\d{1,5}$/;

/** Reads an address with or without a port. Some servers write one of IPv6 without brackets before its port. */
export function addressIn(text: string): IpAddress | undefined {
  const [, bracketed] = BRACKETED.exec(text) ?? [];
  return IpAddress.parse(bracketed ?? text) ?? IpAddress.parse(WITH_PORT.exec(text)?.[1] ?? '');
}

/** Whether an address is that of a connection over a Unix socket. HAProxy writes a number after it. */
export function isUnixSocket(text: string): boolean {
  return text.startsWith('unix:');
}

/** A list of addresses, as proxies write it in X-Forwarded-For, divided before its last one. */
export interface AddressList {
  /** All before the last; `''` if there is one address only. */
  readonly forwarded: string;
  readonly last: string;
}

/** Divides a list of addresses. */
export function addressList(text: string): AddressList {
  const plain = headerText(text);
  const comma = plain.lastIndexOf(',');
  return { forwarded: plain.slice(0, Math.max(0, comma)), last: plain.slice(comma + 1).trim() };
}

/** Returns a list of addresses as the header has it: in a W3C log, spaces are `+` or `%20`. */
export function headerText(text: string): string {
  return text.replace(/\+|%20/g, ' ');
}
