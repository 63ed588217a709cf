import { accountId, createLimiter, type LimitDefinition } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { Learning, type HoldOptions, type LearntCall, type LearnOptions } from '../../src/index.ts';

const key = accountId();

/** A limiter that learns, on a time that moves only when a test moves it. */
export function learner(
  limits: Readonly<Record<string, LimitDefinition>> = { Api: { key, count: 100, period: '1s' } },
  options: LearnOptions = {},
) {
  const time = new FakeTime();
  time.setWall(Date.UTC(2026, 10, 29, 12));
  const limiter = createLimiter({ limits, time, log: false });
  const learning = new Learning(limiter, options);
  const names = Object.keys(limits);
  const entriesOf = (costs: Readonly<Record<string, number>> = {}, id = '7') =>
    names.map((limit) => ({ limit, id, cost: costs[limit] ?? 1 }));
  return {
    time,
    limiter,
    learning,
    /** Begins a call, which must not have to wait. */
    send: (costs?: Readonly<Record<string, number>>, id?: string) => {
      const call = learning.begin(entriesOf(costs, id));
      if (call instanceof Promise) throw new Error('The call waits.');
      return call;
    },
    /** Begins a call, and says in `log` when it is let through. */
    queue: (log: string[], name: string, hold: HoldOptions = {}) => {
      const call = Promise.resolve(learning.begin(entriesOf(), hold));
      void call.then(
        () => log.push(`${name}@${time.nowMs}`),
        () => undefined,
      );
      return call;
    },
    /** How long a request of cost 1 waits for a limit. */
    waitMs: (limit = names[0]!) => limiter.checkSync([{ limit, id: '7' }]).retryAfterMs,
    left: (limit = names[0]!) => limiter.checkSync([{ limit, id: '7' }]).remaining,
  };
}

/** Answers a call. */
export async function answer(
  call: LearntCall,
  status: number,
  fields: Readonly<Record<string, string>> = {},
): Promise<void> {
  await call.answered({ status, headers: { get: (name) => fields[name] } });
}

/** Lets callbacks of promises run. */
export async function turns(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}
