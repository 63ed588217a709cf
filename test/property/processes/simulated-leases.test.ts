import { TICKS_PER_MS } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, it } from 'vitest';
import { simulateLeases, type SimulatedProcesses } from '../../../scripts/processes/simulated-leases.ts';

const PROCESSES = 4;
/** 100 a second, and at most 20 tokens more. */
const NUMBERS = { burst: 200, intervalTicks: 10 * TICKS_PER_MS, overshoot: 0.1, processes: PROCESSES, roundTripMs: 1 };

/** Processes on a clock that a test moves, and what they let through. */
class Simulation {
  readonly time = new FakeTime();
  readonly processes: SimulatedProcesses;
  /** The moments at which requests have passed, in milliseconds. */
  readonly passed: number[] = [];
  waited = 0;

  constructor() {
    const simulated = simulateLeases({ ...NUMBERS, time: this.time });
    if ('strictBecause' in simulated) throw new Error(simulated.strictBecause);
    this.processes = simulated;
  }

  /** Sends requests at equal distances, each to the process that a function returns. */
  async send(
    requests: number,
    everyMs: number,
    processOf: (request: number) => number,
    { id = 'one', cost = 1 } = {},
  ): Promise<void> {
    for (let i = 0; i < requests; i++) {
      const passes = this.processes.spend(processOf(i), id, cost);
      if (typeof passes === 'boolean') this.#note(passes);
      else this.waited++;
      if (typeof passes !== 'boolean') void passes.then((each) => this.#note(each));
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await this.time.pass(0);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await this.time.pass(everyMs);
    }
  }

  /** How many tokens more than the limit has passed in the worst window of time. */
  get exceededBy(): number {
    let level = 0;
    let worst = 0;
    for (const [i, atMs] of this.passed.entries()) {
      level = Math.max(0, level - (atMs - (this.passed[i - 1] ?? 0)) / 10) + 1;
      worst = Math.max(worst, level);
    }
    return worst - NUMBERS.burst;
  }

  #note(passes: boolean): void {
    if (passes) this.passed.push(this.time.nowMs);
  }
}

describe('simulated processes with leases', () => {
  it('let a client through that keeps to the limit, at whichever process its requests arrive', async () => {
    for (const processOf of [() => 0, (i: number) => i % PROCESSES]) {
      const simulation = new Simulation();
      // oxlint-disable-next-line no-await-in-loop -- one simulation after the other
      await simulation.send(1000, 10, processOf);
      expect(simulation.passed).toHaveLength(1000);
    }
  });

  it('together let ten times the limit through no faster than the limit and its overshoot', async () => {
    for (const processOf of [(i: number) => i % PROCESSES, (i: number) => (i % 8 < PROCESSES ? i % PROCESSES : 0)]) {
      const simulation = new Simulation();
      // oxlint-disable-next-line no-await-in-loop -- one simulation after the other
      await simulation.send(5000, 1, processOf);
      expect(simulation.exceededBy).toBeLessThanOrEqual(0.1 * NUMBERS.burst);
      // 200 at once and 100 a second.
      expect(simulation.passed.length).toBeGreaterThan(0.98 * 700);
    }
  });

  it('share one bucket for an id, and none with other ids', async () => {
    const simulation = new Simulation();
    await simulation.send(400, 0.1, () => 0);
    const before = simulation.passed.length;
    await simulation.time.pass(100);
    await simulation.send(50, 0.1, () => 1);
    expect(simulation.passed.length - before).toBeLessThan(20);
    await simulation.send(50, 1, () => 1, { id: 'other' });
    await simulation.time.pass(100);
    expect(simulation.passed.length - before).toBeGreaterThanOrEqual(50);
  });

  it('decide at once from a lease, and wait for Redis when they have none', async () => {
    const simulation = new Simulation();
    await simulation.send(500, 10, () => 0);
    expect(simulation.waited).toBeLessThan(250);
    const { processes, time } = new Simulation();
    const many = Array.from({ length: 20 }, () => processes.spend(0, 'one', 1));
    expect(many[0]).toBe(true);
    const waiting = many.at(-1);
    expect(waiting).toBeInstanceOf(Promise);
    await time.pass(0);
    await time.pass(50);
    expect(await waiting).toBe(true);
  });

  it.each([1, 2, 5, 50])(
    'let the whole limit through when each request costs %i, with an overdraft of 3',
    async (cost) => {
      const simulation = new Simulation();
      await simulation.send(6000 / cost, (10 * cost) / 3, (i) => (i * 7) % PROCESSES, { cost });
      // 200 at once and 100 a second for 20 s.
      expect((simulation.passed.length * cost) / 2200).toBeGreaterThan(0.97);
    },
  );

  it('decide the same in each simulation', async () => {
    const [one, other] = [new Simulation(), new Simulation()];
    for (const each of [one, other]) await each.send(500, 3, (i) => (i * 7) % PROCESSES); // oxlint-disable-line no-await-in-loop
    expect(other.passed).toEqual(one.passed);
  });

  it('are none for a limit that can not be leased, but the reason', () => {
    const time = new FakeTime();
    expect(simulateLeases({ ...NUMBERS, processes: 40, time })).toEqual({
      strictBecause: 'overshoot × burst is 20 tokens, and each of the 40 processes needs one',
    });
  });
});
