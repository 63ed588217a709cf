import assert from 'node:assert/strict';
import { once } from 'node:events';
import { forked } from '../harness/processes.mjs';

const PROCESS = new URL('process.mjs', import.meta.url);

/**
 * Starts processes that share the decisions, those in flight and the ids.
 *
 * @param {number} port Of the Redis.
 * @param {{ contender: string, rate: import('../contenders/decider.ts').Rate, ids: number, inFlight: number }} decided
 * @param {{ processes: number, core: number }} options
 * @returns {Promise<(decisions: number) => Promise<number>>} Makes so many, and gives the processor time of all processes in
 *   microseconds.
 */
export async function deciding(port, { contender, rate, ids, inFlight }, { processes, core }) {
  const children = Array.from({ length: processes }, (_, n) => {
    const own = { contender, rate, ids, first: Math.floor((n * ids) / processes), inFlight: inFlight / processes };
    const child = forked(PROCESS, [String(port), JSON.stringify(own)], { core });
    // It ends with this process, and not before.
    child.once('exit', (code) => assert.fail(`A process that decides ended with ${code}.`));
    return child;
  });
  await Promise.all(children.map((child) => once(child, 'message')));
  return async (decisions) => {
    const told = children.map((child) => once(child, 'message'));
    for (const child of children) child.send(Math.ceil(decisions / processes));
    const micros = await Promise.all(told);
    return micros.reduce((sum, [each]) => sum + each, 0);
  };
}
