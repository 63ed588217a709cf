import { accountId, createLimiter, memoryStore } from '@sluice/core';

/** `limiter.spend`, as applications call it. */
/** @type {import('./decider.ts').Contender} */
export const sluice = {
  answersAtOnce: true,
  bounded: true,
  decider: ({ rate, limits, maxKeys }) => {
    const names = ['First', 'Second', 'Third'].slice(0, limits);
    const definition = { key: accountId(), burst: rate.burst, count: 1, period: `${rate.intervalMs}ms` };
    const limiter = createLimiter({
      limits: Object.fromEntries(names.map((name) => [name, definition])),
      store: memoryStore({ maxKeys: maxKeys * limits }),
    });
    return { decide: limits === 1 ? one(limiter) : three(limiter), allowed: ({ allowed }) => allowed };
  },
};

/**
 * @param {import('@sluice/core').Limiter} limiter
 * @returns {(id: string) => import('@sluice/core').Awaitable<import('@sluice/core').Decision>}
 */
function one(limiter) {
  return (id) => limiter.spend([{ limit: 'First', id }]);
}

/**
 * @param {import('@sluice/core').Limiter} limiter
 * @returns {(id: string) => import('@sluice/core').Awaitable<import('@sluice/core').Decision>}
 */
function three(limiter) {
  return (id) =>
    limiter.spend([
      { limit: 'First', id },
      { limit: 'Second', id },
      { limit: 'Third', id },
    ]);
}
