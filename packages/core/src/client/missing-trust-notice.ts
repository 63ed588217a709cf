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
    `A request from ${from} has an X-Forwarded-For header, but \`trustedProxies\` is not set. The header is ignored, and all clients behind that proxy may share one bucket.`,
    `If this is your proxy, set trustedProxies: ['${name}'], or list its address. If you trust no proxy, set trustedProxies: [].`,
    "The framework's own setting (Express 'trust proxy', Koa 'proxy', Fastify 'trustProxy') is not used.",
  ].join(' ');
}
