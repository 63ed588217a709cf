import { PerformanceObserver } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * The turn of the event loop that took longest. On a machine that others use too it would be one in which the process
 * waited for a processor, so that time does not count.
 *
 * @typedef {object} LongestTurn
 * @property {number} busyMs How long it took, less what the process waited for a processor.
 * @property {number} gcMs How much of it V8's garbage collector held up the program.
 * @property {number} wallMs The longest turn by the clock on the wall, which may be another.
 * @property {number} mostBytes The most memory outside of V8's heap that a turn allocated.
 */

/**
 * Runs steps, so many in each turn of the event loop, and tells how long others had to wait at most. Timers that come
 * due between two turns belong to the time between them.
 *
 * @param {(step: number) => unknown} step One that gives a promise is awaited.
 * @param {{ perTurn: number, isOver: (steps: number) => boolean }} options
 * @returns {Promise<LongestTurn>}
 */
export async function longestTurn(step, { perTurn, isOver }) {
  const collections = new Collections();
  let longest = { startMs: 0, endMs: 0, busyMs: 0 };
  let [wallMs, mostBytes, bytes] = [0, 0, process.memoryUsage().arrayBuffers];
  let startMs = performance.now();
  let startCpuMs = cpuMs();
  for (let steps = 0; !isOver(steps); steps += perTurn) {
    for (let i = 0; i < perTurn; i++) {
      const answer = step(steps + i);
      // oxlint-disable-next-line no-await-in-loop
      if (answer instanceof Promise) await answer;
    }
    // oxlint-disable-next-line no-await-in-loop
    await nextTurn();
    const endMs = performance.now();
    const endCpuMs = cpuMs();
    // All threads count, so the processor's time may be longer than the clock's.
    const busyMs = Math.min(endMs - startMs, endCpuMs - startCpuMs);
    if (busyMs > longest.busyMs) longest = { startMs, endMs, busyMs };
    wallMs = Math.max(wallMs, endMs - startMs);
    const { arrayBuffers } = process.memoryUsage();
    mostBytes = Math.max(mostBytes, arrayBuffers - bytes);
    bytes = arrayBuffers;
    startMs = endMs;
    startCpuMs = endCpuMs;
  }
  return { busyMs: longest.busyMs, gcMs: await collections.within(longest), wallMs, mostBytes };
}

function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The garbage collections since it was made. */
class Collections {
  /** @type {import('node:perf_hooks').PerformanceEntry[]} */
  #entries = [];
  #observer = new PerformanceObserver((list) => this.#entries.push(...list.getEntries()));

  constructor() {
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  /** @param {{ startMs: number, endMs: number }} span */
  async within({ startMs, endMs }) {
    // What is observed is told a turn later.
    await nextTurn();
    await nextTurn();
    this.#observer.disconnect();
    return this.#entries
      .filter((entry) => entry.startTime >= startMs && entry.startTime < endMs)
      .reduce((sum, { duration }) => sum + duration, 0);
  }
}
