import { accountId, createLimiter, memoryStore } from '@sluice/core';

/** `limiter.spend`, as applications call it. */
export const sluice = sluiceOf(({ burst, intervalMs }) => ({ burst, count: 1, period: `${intervalMs}ms` }));

/** The same with limits of other kinds, which are compared with a rate. */
export const kindsOfSluice = {
  'Sluice, quota': sluiceOf(({ burst }) => ({ count: burst, per: 'year' })),
  'Sluice, waiting': sluiceOf(({ burst, intervalMs }) => ({
    burst,
    count: 1,
    period: `${intervalMs}ms`,
    maxWait: '1s',
  })),
  'Sluice, debt': sluiceOf(({ burst, intervalMs }) => ({ burst, count: 1, period: `${intervalMs}ms`, maxDebt: 10 })),
};

/**
 * @typedef {import('./decider.ts').Rate} Rate
 * @typedef {import('@sluice/core').LimitNumbers | { count: number, per: 'year' }} Numbers
 * @param {(rate: Rate) => Numbers} numbersOf
 * @returns {import('./decider.ts').Contender}
 */
function sluiceOf(numbersOf) {
  return {
    answersAtOnce: true,
    bounded: true,
    decider: ({ rate, limits, maxKeys }) => {
      const names = ['First', 'Second', 'Third'].slice(0, limits);
      const definition = { key: accountId(), ...numbersOf(rate) };
      const limiter = createLimiter({
        limits: Object.fromEntries(names.map((name) => [name, definition])),
        store: memoryStore({ maxKeys: maxKeys * limits }),
      });
      return { decide: limits === 1 ? one(limiter) : three(limiter), allowed: ({ allowed }) => allowed };
    },
  };
}

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
