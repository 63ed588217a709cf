import { setTimeout as wait } from 'node:timers/promises';
import { accountId, createLimiter, memoryStore } from '@sluice/core';
import { concurrency as concurrencyLimit } from '@sluice/core/concurrency';
import { redisStore } from '@sluice/redis';
import { Semaphore } from 'redis-semaphore';
import { hold } from './hold.mjs';

/**
 * Takes a slot of one limit on requests in progress, and releases it.
 *
 * @typedef {import('ioredis').Redis} Redis
 * @typedef {() => Promise<void>} Hold Throws when the slot was not free, or when another than the store has decided.
 * @typedef {(client: Redis, concurrency: number) => Hold | Promise<Hold>} InProgress
 */

const KEY = 'backend';
const EXPIRY_MS = 10_000;

/**
 * @param {import('@sluice/core').Store} store
 * @param {number} concurrency
 * @returns {Hold}
 */
function holdOf(store, concurrency) {
  const limiter = createLimiter({
    limits: { InFlight: concurrencyLimit({ key: accountId(), expiry: EXPIRY_MS, concurrency }) },
    store,
    // With the default of 50 ms the fallback would decide while the machine is busy with something else.
    failure: { deadlineMs: 5000 },
  });
  return async () => {
    const held = await hold(limiter, [{ limit: 'InFlight', id: KEY }]);
    if (!held.allowed || held.failure !== undefined) throw new Error('The store did not admit the request.');
    await held.release();
  };
}

/** @type {InProgress} */
const overRedis = async (client, concurrency) => {
  const store = redisStore({ client });
  // oxlint-disable-next-line no-await-in-loop
  while (store.status().state !== 'up') await wait(10);
  return holdOf(store, concurrency);
};

/** @type {InProgress} */
const redisSemaphore = (client, concurrency) => async () => {
  // An instance is one holder. It is renewed after 0.8 of its timeout, which is the default.
  const semaphore = new Semaphore(client, KEY, concurrency, { lockTimeout: EXPIRY_MS, acquireAttemptsLimit: 1 });
  await semaphore.acquire();
  await semaphore.release();
};

/** @type {Readonly<Record<string, InProgress>>} */
export const inProgress = {
  'Sluice in memory': (_client, concurrency) => holdOf(memoryStore(), concurrency),
  Sluice: overRedis,
  'redis-semaphore': redisSemaphore,
};
