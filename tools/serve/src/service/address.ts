import { SluiceError } from '@sluice/core';

/** Where a server listens: a port of an address, or a unix socket. */
export type ListenAddress = { readonly host: string; readonly port: number } | { readonly path: string };

const HOST_AND_PORT = /^(?:\[([0-9a-f:.]+)\]|([^:/[\]]*)):(\d{1,5})$/i;

/**
 * Reads an address: `127.0.0.1:9090`, `[::1]:9090`, `:9090` for all addresses, or `unix:/run/sluice.sock`.
 *
 * @param option - Its name in messages.
 * @throws {SluiceError} `ERR_OPTION` for any other text.
 */
export function listenAddress(option: string, text: string): ListenAddress {
  if (text.startsWith('unix:/')) return { path: text.slice('unix:'.length) };
  const [, inBrackets, name, digits] = HOST_AND_PORT.exec(text) ?? [];
  const host = inBrackets ?? name;
  if (host !== undefined && Number(digits) <= 65_535) return { host: host === '' ? '::' : host, port: Number(digits) };
  throw new SluiceError(
    'ERR_OPTION',
    `must be an address with a port, or unix:/ and a path, but was '${text}'. For example 127.0.0.1:9090, [::1]:9090 or unix:/run/sluice.sock.`,
    { path: option },
  );
}
