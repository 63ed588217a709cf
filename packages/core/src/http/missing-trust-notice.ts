import type { Peer } from './peer.ts';
import { trustedProxies } from './trusted-proxies.ts';

const PLACES_OF_PROXIES = ['loopback', 'private', 'unix'] as const;

/**
 * Makes what is told of each peer that sends `X-Forwarded-For` while `trustedProxies` is not set: at the first one
 * that stands where proxies stand, it warns once.
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
    `A request with X-Forwarded-For came from ${from}, but \`trustedProxies\` is not set: the header is not read, and everyone behind that proxy may share one bucket.`,
    `If it is your proxy, set trustedProxies: ['${name}'], or its own address; if nobody is to be trusted, set trustedProxies: [].`,
    "The framework's own setting (Express 'trust proxy', Koa 'proxy', Fastify 'trustProxy') is not used.",
  ].join(' ');
}
