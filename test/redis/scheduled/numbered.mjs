// Does numbered calls by a scheduler, and notes each that begins in a file, at once: it may be killed in the next moment.
import { createLimiter, everyone } from '@sluice/core';
import { createScheduler } from '@sluice/core/scheduler';
import { redisStore } from '@sluice/redis';
import { openSync, writeSync } from 'node:fs';

/**
 * @typedef {object} NumberedOrders
 * @property {string} url
 * @property {{ burst: number, count: number, period: string }} limit
 * @property {number} calls
 * @property {string} file Where it writes a line for each call that begins.
 */

/** @type {NumberedOrders} */
const { url, limit, calls, file } = JSON.parse(process.argv[2] ?? '');
const written = openSync(file, 'a');
const limiter = createLimiter({
  store: redisStore({ url, log: false }),
  failure: { deadlineMs: 10_000, onFailure: 'closed' },
  log: false,
  limits: { Api: { key: everyone(), ...limit } },
});
await limiter.ready();
const scheduler = createScheduler(limiter);
process.send?.('ready');
await new Promise((resolve) => process.once('message', resolve));
const entries = [{ limit: /** @type {const} */ ('Api'), id: 'everyone' }];
const all = Array.from({ length: calls }, (_, i) =>
  scheduler.run(entries, () => writeSync(written, `${process.pid}:${i}\n`), { within: '10m' }),
);
process.send?.('waiting');
await Promise.all(all);
await limiter.close({ store: true });
process.send?.('done', () => process.disconnect());
