import { createLimiter, everyone, type Limiter, type Store } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { createScheduler, type Scheduler } from '@sluice/core/scheduler';
import type { FakeTime } from '@sluice/core/testing';
import { expect } from 'vitest';

const key = everyone();
const id = 'everyone';

/** A store whose clock a test moves. */
interface SteeredSetup {
  readonly store: Store;
  readonly time: FakeTime;
  /** Moves the clocks of the store and of the limiter. */
  readonly advance: (ms: number) => unknown;
}

interface SchedulingCase {
  readonly name: string;
  readonly run: (setup: SteeredSetup) => Promise<void>;
}

const LIMITS = {
  Api: { key, burst: 1, count: 20, period: '1s' },
  Tokens: { key, burst: 1000, count: 10_000, period: '1s' },
  Busy: concurrency({ key, concurrency: 2 }),
} as const;

/** A limiter and its scheduler, and how time passes for both. */
class Scene {
  readonly limiter: Limiter<unknown, keyof typeof LIMITS>;
  readonly scheduler: Scheduler<keyof typeof LIMITS>;
  readonly time: FakeTime;
  readonly #advance: SteeredSetup['advance'];
  #ends: { readonly atMs: number; readonly end: () => void }[] = [];

  constructor({ store, time, advance }: SteeredSetup) {
    this.time = time;
    this.#advance = advance;
    const failure = { deadlineMs: 20_000 };
    this.limiter = createLimiter({ limits: LIMITS, store, time, log: false, failure });
    this.scheduler = createScheduler(this.limiter);
  }

  /** Work that lasts for a time. */
  work(ms: number): Promise<void> {
    return new Promise((end) => this.#ends.push({ atMs: this.time.nowMs + ms, end }));
  }

  /** Lets time pass in steps, and all calls of the store be answered. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= STEP_MS) {
      await this.answered();
      await this.#advance(STEP_MS);
      for (const { end } of this.#ends.filter(({ atMs }) => atMs <= this.time.nowMs)) end();
      this.#ends = this.#ends.filter(({ atMs }) => atMs > this.time.nowMs);
    }
    await this.answered();
  }

  /** Calls of one connection are answered in their order. */
  async answered(): Promise<void> {
    for (let i = 0; i < 3; i++) await this.limiter.check([{ limit: 'Api', id, cost: 0 }]);
  }
}

const STEP_MS = 5;
const api = [{ limit: 'Api', id }] as const;
const busy = [{ limit: 'Busy', id }] as const;

/** What a scheduler must do on each store, on a clock that a test moves. */
export const schedulingCases: readonly SchedulingCase[] = [
  {
    name: 'what is learnt while calls wait holds back all but those whose turn is reserved',
    async run(setup) {
      const { scheduler, limiter, time, pass } = bound(new Scene(setup));
      const starts: number[] = [];
      for (let i = 0; i < 20; i++) void scheduler.run(api, () => starts.push(time.nowMs));
      await pass(120);
      const [before, atMs] = [starts.length, time.nowMs];
      await limiter.restrict([{ limit: 'Api', id, forMs: 2000 }]);
      await pass(1980);
      expect(starts.length - before).toBeLessThanOrEqual(2);
      await pass(1100);
      expect(starts).toHaveLength(20);
      expect(starts[before + 2]).toBeGreaterThanOrEqual(atMs + 2000);
    },
  },
  {
    name: 'calls that are estimated at ten times what they use get more than half of the limit',
    async run(setup) {
      const { scheduler, work, pass } = bound(new Scene(setup));
      const entries = [{ limit: 'Tokens', id, cost: 1000 }] as const;
      let used = 0;
      const over = new AbortController();
      const caller = async (): Promise<void> => {
        while (!over.signal.aborted) {
          await scheduler.run(entries, () => work(STEP_MS), { settle: () => ({ Tokens: 100 }) });
          used += 100;
        }
      };
      const callers = Array.from({ length: 20 }, caller);
      await pass(2000);
      over.abort();
      expect(used).toBeGreaterThan(10_000);
      expect(used).toBeLessThanOrEqual(21_000);
      await pass(2000);
      await Promise.all(callers);
    },
  },
  {
    name: 'calls wait for slots, and begin as these are released',
    async run(setup) {
      const { scheduler, time, work, pass } = bound(new Scene(setup));
      const starts: number[] = [];
      const began = time.nowMs;
      for (let i = 0; i < 6; i++)
        void scheduler.run(busy, () => {
          starts.push(time.nowMs - began);
          return work(50);
        });
      await pass(400);
      expect([starts.length, scheduler.size, scheduler.running]).toEqual([6, 0, 0]);
      expect(starts.filter((at) => at < 50)).toHaveLength(2);
      expect(starts.at(-1)).toBeLessThan(300);
    },
  },
  {
    name: 'callers that leave lose nothing for those that stay',
    async run(setup) {
      const { scheduler, time, pass } = bound(new Scene(setup));
      const starts: number[] = [];
      const leaving = new AbortController();
      const left: Promise<unknown>[] = [];
      for (let i = 0; i < 60; i++) {
        const call = scheduler.run(api, () => starts.push(time.nowMs), i % 6 === 0 ? {} : { signal: leaving.signal });
        if (i % 6 > 0) left.push(call.catch((error: unknown) => error));
      }
      await pass(100);
      leaving.abort(new Error('gone'));
      const begun = starts.length;
      await pass(1000);
      expect((await Promise.all(left)).filter((each) => each instanceof Error).length).toBeGreaterThan(45);
      // Those that stay begin at the rate, from the first free turn on.
      const rest = starts.slice(begun);
      expect(rest.length).toBeGreaterThan(5);
      expect(rest.at(-1)! - rest[0]!).toBeLessThanOrEqual(50 * rest.length);
    },
  },
  {
    name: 'an urgent call does not wait behind 500 others',
    async run(setup) {
      const { scheduler, time, pass } = bound(new Scene(setup));
      for (let i = 0; i < 500; i++) scheduler.run(api, () => undefined).catch(() => undefined);
      await pass(200);
      const asked = time.nowMs;
      let begun = Infinity;
      void scheduler.run(api, () => (begun = time.nowMs), { priority: 1 });
      await pass(300);
      expect(begun - asked).toBeLessThanOrEqual(160);
      await scheduler.close();
    },
  },
];

/** A store whose clock steps, as that of a server does whose clock is set. */
interface SteppedSetup extends SteeredSetup {
  /** Moves the clock of the store alone, forward or back. */
  readonly step: (ms: number) => void;
}

/** What a scheduler must do on each store whose clock is not that of the process. */
export const clockCases: readonly {
  readonly name: string;
  readonly run: (setup: SteppedSetup) => Promise<void>;
}[] = [
  {
    name: 'a step of the clock of the server, forward or back, is worth at most a burst, and calls go on',
    async run({ step, ...setup }) {
      const { scheduler, time, pass } = bound(new Scene(setup));
      const starts: number[] = [];
      const calls = Array.from({ length: 50 }, () => scheduler.run(api, () => starts.push(time.nowMs)));
      await pass(500);
      const begun: number[] = [];
      for (const ms of [3_600_000, -3_600_000, -3_600_000]) {
        const { length } = starts;
        step(ms);
        await pass(500);
        begun.push(starts.length - length);
      }
      for (const each of begun) {
        expect(each).toBeGreaterThanOrEqual(8);
        expect(each).toBeLessThanOrEqual(11);
      }
      // 10 are left, and each step may have cost one turn.
      await pass(1000);
      expect(await Promise.all(calls)).toHaveLength(50);
    },
  },
];

/** Its methods, as functions. */
function bound(scene: Scene) {
  const { scheduler, limiter, time } = scene;
  return {
    scheduler,
    limiter,
    time,
    pass: (ms: number) => scene.pass(ms),
    work: (ms: number) => scene.work(ms),
  };
}
