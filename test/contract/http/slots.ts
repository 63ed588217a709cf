import { memoryStore, type Decision, type Limiter, type Limits, type Store } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { FakeTime } from '@sluice/core/testing';
import { expect } from 'vitest';
import type { Visit } from './client.ts';
import type { Context, Framework, Handler, NativeRequest, Options, Plan } from './framework.ts';
import { gate } from './gate.ts';
import { as, lateStore, stillLimiter, userKey } from './limiters.ts';
import { start, type App } from './start.ts';

/** How many slots were taken from a store and released to it, and how many are held. */
interface SlotCounts {
  taken: number;
  released: number;
  readonly held: number;
  /** The limits of all charges. */
  readonly charged: string[];
}

/** A memory store that counts slots. */
function countedSlots(time: FakeTime = new FakeTime()): { readonly store: Store; readonly counts: SlotCounts } {
  const inner = memoryStore({ time });
  const held = (): number => Object.values(inner.stats().slots).reduce((sum, slots) => sum + slots, 0);
  const counts = {
    taken: 0,
    released: 0,
    charged: [] as string[],
    get held() {
      return held();
    },
  };
  const store: Store = {
    traits: inner.traits!,
    run(operation) {
      const before = held();
      const reading = inner.run(operation);
      if (operation.kind === 'spend') counts.taken += held() - before;
      if (operation.kind === 'charge') counts.charged.push(...operation.batch.map(({ limit }) => limit));
      if (operation.kind === 'release') counts.released += operation.batch.reduce((sum, { count }) => sum + count, 0);
      return reading;
    },
    close: () => inner.close(),
  };
  return { store, counts };
}

/** What an application with slots is made of. */
export interface SlotPlan {
  /** Whether the store answers later. Default: false. */
  readonly isLate?: boolean;
  /** Default: two slots for each user. */
  readonly limits?: Limits<NativeRequest>;
  /** The limits of the only middleware. Default: all. */
  readonly uses?: readonly unknown[];
  /** Further options of the middleware. */
  readonly options?: object;
  /** The middlewares, in place of the only one. */
  readonly all?: (limiter: Limiter<NativeRequest>) => readonly unknown[];
  /** Default: waits until the gate is open. */
  readonly handle?: Handler;
  readonly before?: Plan['before'];
  readonly overrides?: object;
}

/** An application with slots. */
export interface SlotApp {
  readonly app: App;
  readonly limiter: Limiter<NativeRequest>;
  readonly time: FakeTime;
  readonly counts: SlotCounts;
  readonly decisions: Decision[];
  /** The requests in progress, those of the past, and the most at the same time. */
  readonly seen: { inProgress: number; handled: number; most: number };
  /** Lets all requests that wait at the gate be answered, and those to come. */
  readonly open: () => void;
  /** Sends a request of a user, and waits until it is decided. */
  readonly begin: (user?: string) => Promise<Visit>;
  /** Waits until all slots were released, each once. */
  readonly allReleased: () => Promise<void>;
}

const TWO_SLOTS = { InFlight: concurrency({ key: userKey, concurrency: 2 }) };

/** Serves an application whose requests wait at a gate. */
export async function serveSlots(framework: Framework, plan: SlotPlan = {}): Promise<SlotApp> {
  const { isLate = false, limits = TWO_SLOTS, uses = Object.keys(limits), options = {}, all, before, overrides } = plan;
  const time = new FakeTime();
  const { store, counts } = countedSlots(time);
  const limiter = stillLimiter({
    limits,
    store: isLate ? lateStore(store) : store,
    time,
    ...(overrides !== undefined && { overrides: overrides as never }),
  });
  const doors = gate();
  const decisions: Decision[] = [];
  const seen = { inProgress: 0, handled: 0, most: 0 };
  const waitAtGate: Handler = async () => {
    await doors.pass();
    return 'ok';
  };
  const handle = async (context: Context): Promise<string | undefined> => {
    seen.most = Math.max(seen.most, ++seen.inProgress);
    try {
      return await (plan.handle ?? waitAtGate)(context);
    } finally {
      seen.inProgress--;
      seen.handled++;
    }
  };
  const onDecision = (decision: Decision): void => void decisions.push(decision);
  const only = { limiter, limits: uses, onDecision, ...options };
  const app = await start(framework, {
    before,
    limits: (all?.(limiter) ?? [only]) as Options[],
    routes: { '/': { handle } },
  });
  return {
    app,
    limiter,
    time,
    counts,
    decisions,
    seen,
    open: doors.open,
    async begin(user = 'ann') {
      const past = decisions.length;
      const visit = app.visit('/', as(user));
      await expect.poll(() => decisions.length).toBe(past + 1);
      return visit;
    },
    async allReleased() {
      await expect.poll(() => counts.held).toBe(0);
      // Time for a second release of the same slots.
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
      expect(counts.released).toBe(counts.taken);
    },
  };
}
