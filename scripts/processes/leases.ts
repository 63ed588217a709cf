import type { Awaitable } from '../../packages/core/src/index.ts';
import { FakeTime } from '../../packages/core/src/testing/index.ts';
import { simulateLeases, type SimulatedProcesses } from './simulated-leases.ts';
import { partOf } from './partition.ts';
import type { Contestant, Numbers } from './contestant.ts';

/** After how long Redis answers. Timers of Node have no shorter times. */
const ROUND_TRIP_MS = 1;

/**
 * A limit with an `overshoot` that N processes decide from leases: the code of `leasedStore` on a simulated clock, with a
 * model of the Redis that the processes share.
 */
export class Leases implements Contestant {
  readonly #time = new FakeTime();
  readonly #processes: SimulatedProcesses;

  /** @throws {Error} If the limit has no `overshoot`, or one that is too small for so many processes. */
  constructor({ burst, intervalTicks, overshoot, processes, partition }: Numbers) {
    if (overshoot === undefined) throw notLeased('it has no `overshoot`', 'Give it one, for example overshoot: 0.1.');
    const numbers = { burst, intervalTicks, overshoot, processes };
    const isCutOff = (process: number): boolean => partOf(process, this.#time.nowMicros(), partition) !== 0;
    const simulated = simulateLeases({ ...numbers, time: this.#time, roundTripMs: ROUND_TRIP_MS, isCutOff });
    if ('strictBecause' in simulated) {
      throw notLeased(simulated.strictBecause, 'Give it a larger overshoot or burst, or take fewer processes.');
    }
    this.#processes = simulated;
  }

  decide(id: string, atMicros: number, cost: number, process: number): Awaitable<number | undefined> {
    const passes = this.#processes.spend(process, id, cost);
    if (typeof passes === 'boolean') return passes ? 0 : undefined;
    return passes.then((each) => (each ? this.#time.nowMicros() - atMicros : undefined));
  }

  async advanceTo(atMicros: number): Promise<void> {
    // What the requests of the last moment have asked for is sent at once.
    await this.#time.pass(0);
    await this.#time.pass(atMicros / 1000 - this.#time.nowMs);
  }
}

function notLeased(reason: string, remedy: string): Error {
  return new Error(`Leases need a limit that can be leased, but ${reason}. ${remedy}`);
}
