import type { IpAddress } from '../ids/ip-address.ts';
import { complaint, SluiceError } from '../checks/errors.ts';
import { Cidr } from '../ids/cidr.ts';

/**
 * The peer of a connection: its address, or `unix` for a unix socket. `left`: the client disconnected before its
 * address was read. `undefined`: the server gives no address.
 */
export type Peer = IpAddress | 'unix' | 'left' | undefined;

const NAMED_NETWORKS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['loopback', ['127.0.0.0/8', '::1/128']],
  // RFC 1918 and RFC 4193. Link-local networks and carrier-grade NAT (100.64.0.0/10) are not included, because
  // unrelated hosts may be in them: users with proxies there list them.
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']],
]);

// The other names that Express accepts.
const NAMES_ELSEWHERE: ReadonlyMap<unknown, string> = new Map([
  ['uniquelocal', "Write trustedProxies: ['private']."],
  ['linklocal', "Write trustedProxies: ['169.254.0.0/16', 'fe80::/10']."],
]);

const IS_WORD = /^\w*$/;

/** The set of trusted proxies. */
export interface TrustedProxies {
  /** Whether a peer is one of them; false for a peer without an address. */
  trusts(peer: Peer): boolean;
}

/**
 * Creates the set of trusted proxies from CIDRs, single addresses and the names `loopback` (127.0.0.0/8, ::1),
 * `private` (10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7) and `unix` (peers on a unix socket).
 *
 * @throws {SluiceError} `ERR_OPTION` when the value is not an array; `ERR_CIDR` for an invalid entry.
 */
export function trustedProxies(entries: readonly string[]): TrustedProxies {
  checkIsList(entries);
  const networks = entries.flatMap((entry, index) => networksOf(entry, `trustedProxies[${index}]`));
  const trustsUnix = entries.includes('unix');
  return {
    trusts(peer) {
      if (peer === 'unix') return trustsUnix;
      return typeof peer === 'object' && networks.some((network) => network.contains(peer));
    },
  };
}

function checkIsList(entries: unknown): void {
  if (Array.isArray(entries)) return;
  throw complaint('ERR_OPTION', {
    option: 'trustedProxies',
    demand: 'a list of networks and names',
    value: entries,
    remedy: isEntry(entries)
      ? `Write trustedProxies: ['${entries}'].`
      : "List your proxies, e.g. trustedProxies: ['loopback']. To trust all hops, or a number of them, would let clients choose their own address.",
  });
}

function isEntry(entry: unknown): entry is string {
  try {
    trustedProxies([entry as string]);
    return true;
  } catch {
    return false;
  }
}

function networksOf(entry: unknown, option: string): Cidr[] {
  if (entry === 'unix') return [];
  if (typeof entry !== 'string' || IS_WORD.test(entry)) return namedNetworks(entry, option);
  const network = Cidr.parse(entry, option);
  if (network.prefixLength > 0) return [network];
  const message = `\`${option}\` must not be everyone, but was '${network.text}'. Each client could then choose its own address. List the networks of your proxies, e.g. trustedProxies: ['private'].`;
  throw new SluiceError('ERR_CIDR', message);
}

function namedNetworks(name: unknown, option: string): Cidr[] {
  const networks = NAMED_NETWORKS.get(name);
  if (networks !== undefined) return networks.map((text) => Cidr.parse(text, option));
  const demand = "a network such as '10.0.0.0/8', or 'loopback', 'private' or 'unix'";
  const remedy = NAMES_ELSEWHERE.get(name) ?? "For example trustedProxies: ['loopback', '10.0.0.0/8'].";
  throw complaint('ERR_CIDR', { option, demand, value: name, remedy });
}

const PLACES_OF_PROXIES = ['loopback', 'private', 'unix'] as const;

/**
 * Creates a function to call with each peer that sends the address header while `trustedProxies` is not set. It warns
 * once, at the first peer whose address is typical of a proxy: loopback, private, or a unix socket.
 */
export function missingTrustNotice(warn: (message: string) => void): (peer: Peer) => void {
  const places = PLACES_OF_PROXIES.map((name) => ({ name, proxies: trustedProxies([name]) }));
  let hasWarned = false;
  return (peer) => {
    if (hasWarned) return;
    const place = places.find(({ proxies }) => proxies.trusts(peer));
    if (place === undefined) return;
    hasWarned = true;
    warn(missingTrust(peer === 'unix' ? 'a unix socket' : String(peer), place.name));
  };
}

function missingTrust(from: string, name: string): string {
  return [
    `A request from ${from} has an X-Forwarded-For header, but \`trustedProxies\` is not set. The header is ignored, and all clients behind that proxy may share one bucket.`,
    `If this is your proxy, set trustedProxies: ['${name}'], or list its address. If you trust no proxy, set trustedProxies: [].`,
    "The framework's own setting (Express 'trust proxy', Koa 'proxy', Fastify 'trustProxy') is not used.",
  ].join(' ');
}
