import type { IncomingMessage } from 'node:http';
import { complaint, shownName, SluiceError } from '../checks/errors.ts';
import { IpAddress } from '../ids/ip-address.ts';
import { checkBoolean } from '../checks/options.ts';
import { addressHeader, type AddressHeader } from './address-header.ts';
import { missingTrustNotice } from './missing-trust-notice.ts';
import { peerOf, type Peer } from './peer.ts';
import { trustedProxies, type TrustedProxies } from './trusted-proxies.ts';

/** How the address of a request's client is found. */
export interface ClientAddressOptions {
  /**
   * The proxies whose word about their client is taken: CIDRs, single addresses, and the names `loopback`
   * (127.0.0.0/8, ::1), `private` (10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7) and `unix` (peers on a unix
   * socket). Left out or `[]`: nobody's, the client is whoever is connected; `[]` says that this is meant.
   */
  readonly trustedProxies?: readonly string[];
  /**
   * The header in which trusted proxies name their client: `x-forwarded-for` (the default), `forwarded` (RFC 7239),
   * or a header with exactly one address, such as `cf-connecting-ip`.
   */
  readonly addressHeader?: string;
  /** Whether clients behind NAT64 (`64:ff9b::/96`, RFC 6052) go by their IPv4 address. False by default. */
  readonly decodeNat64?: boolean;
}

/** What {@link clientAddressFinder} needs. */
export interface ClientAddressFinderOptions extends ClientAddressOptions {
  /** Told once when a proxy seems to stand in front and `trustedProxies` is not set. */
  readonly warn: (message: string) => void;
}

/** Finds the client's address of a request, or throws `ERR_NO_CLIENT_ADDRESS`. */
export type ClientAddressFinder = (incoming: IncomingMessage) => IpAddress;

/**
 * Makes the function that finds the client's address of a request.
 *
 * The address is that of the socket's peer. While it is a trusted proxy's, the next one is taken from the header's
 * end towards its beginning. The first address that is not trusted is the client's: what stands further left is the
 * client's own word. An element that is no address ends the walk at the last good one, and so does a missing header:
 * the client is then the proxy, never somebody that the client made up.
 *
 * The returned function throws `ERR_NO_CLIENT_ADDRESS` when there is no address at all: a peer on a unix socket that
 * is not trusted or names no client, or a connection that is already gone.
 *
 * @throws {SluiceError} `ERR_OPTION` or `ERR_CIDR` for wrong options.
 */
export function clientAddressFinder(options: ClientAddressFinderOptions): ClientAddressFinder {
  const find = undecodedFinder(options);
  checkBoolean('decodeNat64', options.decodeNat64);
  // Decoded last, so that nobody can pass for a private proxy by writing 64:ff9b::10.0.0.1 into the header.
  return options.decodeNat64 === true ? (incoming) => find(incoming).decodeNat64() : find;
}

function undecodedFinder(options: ClientAddressFinderOptions): ClientAddressFinder {
  const { trustedProxies: entries = [] } = options;
  const trusted = trustedProxies(entries);
  const header = readHeaderOption(options);
  const notice = options.trustedProxies === undefined ? missingTrustNotice(options.warn) : undefined;
  return (incoming) => {
    const peer = peerOf(incoming);
    const value = incoming.headers[header.name];
    if (typeof value !== 'string') return addressOf(peer, trusted, header);
    notice?.(peer);
    return addressOf(lastHop(peer, value, trusted, header), trusted, header);
  };
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/;

function readHeaderOption(options: ClientAddressFinderOptions): AddressHeader {
  const { addressHeader: value = 'x-forwarded-for' } = options;
  const option = 'addressHeader';
  if (typeof value !== 'string' || !HEADER_NAME.test(value)) {
    const demand = "the name of a header, such as 'x-forwarded-for', 'forwarded' or 'cf-connecting-ip'";
    const remedy = "For example addressHeader: 'x-forwarded-for', which is the default.";
    throw complaint('ERR_OPTION', { option, demand, value, remedy });
  }
  if (options.addressHeader !== undefined && options.trustedProxies === undefined) {
    const remedy = "The header is only read from trusted proxies: add e.g. trustedProxies: ['loopback'].";
    throw complaint('ERR_OPTION', { option, demand: 'left out when trustedProxies is not set', value, remedy });
  }
  return addressHeader(value.toLowerCase());
}

// No chain of proxies is longer: what stands further left was made up.
const MAX_HOPS = 64;

/** Walks from the peer along the header's hops, from its end, as far as the hops are trusted. */
function lastHop(peer: Peer, value: string, trusted: TrustedProxies, header: AddressHeader): Peer {
  let hop = peer;
  let end = value.length;
  for (let hops = 0; hops < MAX_HOPS && end >= 0 && trusted.trusts(hop); hops++) {
    const start = header.startOfElement(value, end);
    const next = header.addressOf(value.slice(start, end));
    if (next === undefined) break;
    hop = next;
    end = start - 1;
  }
  return hop;
}

function addressOf(client: Peer, trusted: TrustedProxies, header: AddressHeader): IpAddress {
  if (client instanceof IpAddress) return client;
  throw new SluiceError(
    'ERR_NO_CLIENT_ADDRESS',
    `The request has no client address: ${reason(client, trusted, header)}`,
  );
}

function reason(client: 'unix' | undefined, trusted: TrustedProxies, header: AddressHeader): string {
  if (client === undefined)
    return 'it has no socket, its connection is already closed, or its remote address is not an IP address.';
  if (trusted.trusts(client)) {
    return `it came over a unix socket without a usable ${shownName(header.name)} header. Make the proxy there send one, e.g. in nginx: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;`;
  }
  return "it came over a unix socket, which has no address. If the peer is your proxy, set trustedProxies: ['unix'], so that its X-Forwarded-For header is used.";
}
