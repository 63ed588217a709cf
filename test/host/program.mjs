// A process with host stores, which does what its parent asks for.
import { createLimiter, everyone } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { hostStore } from '@sluice/host';

/** @typedef {import('@sluice/host').HostStore} HostStore */

const fake = new FakeTime();
/** @type {Map<string, HostStore>} */
const stores = new Map();
/** @type {Map<string, import('@sluice/core').Limiter<'Shared'>>} */
const limiters = new Map();
/** The loads in progress. @type {Set<Promise<unknown>>} */
const loads = new Set();
const ending = new AbortController();

const commands = {
  /** @param {{ socket: string, steered?: boolean }} options */
  async open({ socket, steered = false }) {
    const store = hostStore({
      socket,
      log: false,
      onEvent: (event) => process.send?.({ event: { ...event, cause: undefined, socket } }),
      time: steered ? fake : undefined,
    });
    stores.set(socket, store);
    await store.ready();
    return store.status();
  },
  /** @param {string} socket */
  status: (socket) => storeOf(socket).status(),
  /** @param {string} socket */
  close: (socket) => storeOf(socket).close(),
  /**
   * @param {string} socket
   * @param {import('@sluice/core/store').StoreOperation} operation
   * @param {number} deadlineMs
   */
  run: (socket, operation, deadlineMs) => storeOf(socket).run(operation, deadlineMs),
  /** @param {number} ms */
  advance: (ms) => fake.advance(ms),
  /** @param {number} ms */
  stepBack: (ms) => fake.set(fake.nowMs - ms),
  /**
   * Asks for tokens of one limit, and counts the outcomes.
   *
   * @param {{ socket: string, burst: number, requests: number, inFlight: number, deadlineMs: number }} load
   */
  async spend({ socket, burst, requests, inFlight, deadlineMs }) {
    let limiter = limiters.get(socket);
    if (limiter === undefined) {
      const limits = { Shared: { key: everyone(), burst, count: 1, period: '1h' } };
      const failure = { deadlineMs, onFailure: /** @type {const} */ ('closed') };
      limiters.set(socket, (limiter = createLimiter({ limits, store: storeOf(socket), failure, log: false })));
    }
    const found = { allowed: 0, denied: 0, unavailable: 0, slowestMs: 0 };
    let left = requests;
    await Promise.all(
      Array.from({ length: inFlight }, async () => {
        for (; left-- > 0 && !ending.signal.aborted;) {
          const startMs = performance.now();
          const { outcome } = await limiter.spend([{ limit: 'Shared', id: 'everyone' }]);
          found[outcome]++;
          found.slowestMs = Math.max(found.slowestMs, performance.now() - startMs);
        }
      }),
    );
    return found;
  },
};

/** @param {string} socket */
function storeOf(socket) {
  const store = stores.get(socket);
  if (store === undefined) throw new Error(`${socket} is not open`);
  return store;
}

process.on('message', async (/** @type {{ id: number, command: string, args: unknown[] }} */ { id, command, args }) => {
  try {
    const running = Promise.resolve(/** @type {any} */ (commands)[command](...args));
    if (command === 'spend') loads.add(running);
    const result = await running;
    loads.delete(running);
    process.send?.({ id, result });
  } catch (error) {
    const { code, message, stack } = /** @type {import('@sluice/core').SluiceError} */ (error);
    process.send?.({ id, error: { code, message, stack } });
  }
});
// As applications end: the requests in progress are decided, and nothing is lost.
process.once('SIGTERM', async () => {
  ending.abort();
  await Promise.all(loads);
  await Promise.all([...limiters.values()].map((limiter) => limiter.close({ store: true })));
  await Promise.all([...stores.values()].map((store) => store.close()));
  process.disconnect();
});
process.on('disconnect', () => process.exit());
