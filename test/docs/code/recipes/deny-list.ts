import { clientNetwork, createLimiter } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import type { RequestHandler } from 'express';

const limits = { RequestsPerClient: { key: clientNetwork(), count: 100, period: '1m' } };

const limiter = createLimiter({ limits, overrides: { RequestsPerClient: { '203.0.113.0/24': 'blocked' } } });

export const limitClients: RequestHandler = rateLimit({ limiter });

/** Replaces the list, at once for all following requests: `deny(['203.0.113.0/24', '2001:db8:7::/48'])`. */
export function deny(networks: readonly string[]): void {
  const denied = Object.fromEntries(networks.map((network) => [network, 'blocked'] as const));
  limiter.replace({ limits, overrides: { RequestsPerClient: denied } });
}
