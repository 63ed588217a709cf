import type { Peer } from './peer.ts';
import { trustedProxies } from './trusted-proxies.ts';

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
    warn(message(peer === 'unix' ? 'a unix socket' : String(peer), place.name));
  };
}

function message(from: string, name: string): string {
  return [
    `A request from ${from} has an X-Forwarded-For header, but \`trustedProxies\` is not set. The header is ignored, and all clients behind that proxy may share one bucket.`,
    `If this is your proxy, set trustedProxies: ['${name}'], or list its address. If you trust no proxy, set trustedProxies: [].`,
    "The framework's own setting (Express 'trust proxy', Koa 'proxy', Fastify 'trustProxy') is not used.",
  ].join(' ');
}
