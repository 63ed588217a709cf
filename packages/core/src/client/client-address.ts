// The room client: the address of the client: peer, forwarded fields, trusted proxies.
import { complaint, shownName, SluiceError } from '../checks/errors.ts';
import { IpAddress } from '../ids/ip-address.ts';
import { checkBoolean } from '../checks/options.ts';
import { addressHeader, type AddressHeader } from './address-header.ts';
import { missingTrustNotice, trustedProxies, type Peer, type TrustedProxies } from './trusted-proxies.ts';

/** How to find the address of a request's client. */
export interface ClientAddressOptions {
  /**
   * The proxies whose information about their client is trusted: CIDRs, single addresses, and the names `loopback`
   * (127.0.0.0/8, ::1), `private` (10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7) and `unix` (peers on a unix
   * socket). Default: none, so the client is the peer of the connection. `[]` means the same, and disables the warning
   * about a proxy that is not trusted.
   */
  readonly trustedProxies?: readonly string[] | undefined;
  /**
   * The header in which trusted proxies pass the client's address: `x-forwarded-for` (the default), `forwarded` (RFC
   * 7239), or a header with exactly one address, such as `cf-connecting-ip`.
   */
  readonly addressHeader?: string | undefined;
  /** Whether clients behind NAT64 (`64:ff9b::/96`, RFC 6052) are identified by their IPv4 address. Default: false. */
  readonly decodeNat64?: boolean | undefined;
}

/** The options of {@link clientAddressFinder}. */
export interface ClientAddressFinderOptions extends ClientAddressOptions {
  /** Called once when there seems to be a proxy and `trustedProxies` is not set. */
  readonly warn: (message: string) => void;
}

/** What is used of a request to find its client. */
export interface AddressedRequest {
  /** Once it was read, it must stay known: some servers forget the address of a client that has disconnected. */
  readonly peer: Peer;
  /**
   * Returns a header field of the request; several lines of one field are joined with commas. `undefined` when the
   * request does not have it.
   *
   * @param name - In lower case.
   */
  header(name: string): string | undefined;
}

/** Returns the address of a request's client, or throws `ERR_NO_CLIENT_ADDRESS`. */
export type ClientAddressFinder = (request: AddressedRequest) => IpAddress;

/**
 * Creates the function that finds the address of a request's client.
 *
 * It begins with the address of the socket's peer. While the address is that of a trusted proxy, the next one is read
 * from the header, from its end towards its beginning. The first address that is not trusted is the client's:
 * everything further left was written by the client. An invalid element ends the walk at the last valid address, and so
 * does a missing header. The client is then the proxy, and never an address that the client made up.
 *
 * The returned function throws `ERR_NO_CLIENT_ADDRESS` when there is no address: the peer is on a unix socket that is
 * not trusted or sends no client address, or the connection is already closed.
 *
 * @throws {SluiceError} `ERR_OPTION` or `ERR_CIDR` for wrong options.
 */
export function clientAddressFinder(options: ClientAddressFinderOptions): ClientAddressFinder {
  const find = undecodedFinder(options);
  checkBoolean('decodeNat64', options.decodeNat64);
  // Decoded after the walk, so that a client can't pretend to be a private proxy with 64:ff9b::10.0.0.1 in the header.
  return options.decodeNat64 === true ? (request) => find(request).decodeNat64() : find;
}

function undecodedFinder(options: ClientAddressFinderOptions): ClientAddressFinder {
  const { trustedProxies: entries = [] } = options;
  const trusted = trustedProxies(entries);
  const header = readHeaderOption(options);
  const notice = options.trustedProxies === undefined ? missingTrustNotice(options.warn) : undefined;
  return (request) => {
    const { peer } = request;
    const value = request.header(header.name);
    if (value === undefined) return peer instanceof IpAddress ? peer : addressOf(peer, trusted, header);
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

// Longer than any chain of proxies; elements further left were made up by the client.
const MAX_HOPS = 64;

/** Walks from the peer along the header's hops, starting at its end, as long as the hops are trusted. */
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

function reason(client: Exclude<Peer, IpAddress>, trusted: TrustedProxies, header: AddressHeader): string {
  if (client !== 'unix')
    return 'it has no socket, its connection is already closed, or its remote address is not an IP address.';
  if (trusted.trusts(client)) {
    return `it came over a unix socket without a usable ${shownName(header.name)} header. Make the proxy there send one, e.g. in nginx: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;`;
  }
  return "it came over a unix socket, which has no address. If the peer is your proxy, set trustedProxies: ['unix'], so that its X-Forwarded-For header is used.";
}
