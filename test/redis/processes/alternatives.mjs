// Spends the first of two alternatives when told to, many times at once, and says how often each was taken.
import { redisStore } from '@sluice/redis';
import { setTimeout as sleep } from 'node:timers/promises';
import { callsOf } from '@sluice/core/testing';

/**
 * What it is told, as its only argument.
 *
 * @typedef {{ url: string, calls: number, alternatives: import('@sluice/core/store').StoreTransaction[][] }} AlternativesOrders
 */

/** @type {AlternativesOrders} */
const { url, calls, alternatives } = JSON.parse(process.argv[2] ?? '');
const store = redisStore({ url });

process.once('message', async () => {
  const taken = { first: 0, second: 0, denied: 0 };
  const spend = async () => {
    const readings = await callsOf(store).spendFirst(alternatives, 10_000);
    const passed = readings.findIndex((reading) => reading.passed === 0);
    taken[passed === 0 ? 'first' : passed === 1 ? 'second' : 'denied'] += 1;
  };
  for (let i = 0; i < calls; i += 10) {
    // oxlint-disable-next-line no-await-in-loop -- ten at a time
    await Promise.all(Array.from({ length: 10 }, spend));
  }
  await store.close();
  process.send?.(taken, () => process.disconnect());
});

// oxlint-disable-next-line no-await-in-loop
while (store.status().state !== 'up') await sleep(5);
process.send?.('ready');
