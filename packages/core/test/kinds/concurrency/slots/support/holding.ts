import { accountId, createLimiter, memoryStore, type Decision, type LimiterEvent } from '@sluice/core';
import type { Limiter, LimiterOptions, Limits, SpendEntry, Store } from '@sluice/core';
import { callsOf, FakeTime } from '@sluice/core/testing';
import { atOnce } from '../../../../support/limiter-on-fake-time.ts';
import { limitOf } from '../../../../support/limit-of.ts';
import { RemoteStore } from './remote-store.ts';

type Options = Partial<Omit<LimiterOptions, 'limits' | 'store' | 'time'>>;
type Numbers = Readonly<Record<string, object>>;

/** An entry of the limit `InFlight`, unless told otherwise. */
export function slot(more: Partial<SpendEntry> = {}): SpendEntry {
  return { limit: 'InFlight', id: 'a', ...more };
}

/** Limits of accounts, by name. */
export function limitsOf(numbers: Numbers): Limits {
  return Object.fromEntries(
    Object.entries(numbers).map(([name, given]) => [
      name,
      limitOf({ key: accountId((id: unknown) => String(id)), ...given }),
    ]),
  );
}

/** Decisions that a test does not release. Their slots would be free once they were collected as garbage. */
const kept: Decision[] = [];

function keep(held: Decision): Decision {
  kept.push(held);
  return held;
}

function limiterOn(store: Store, time: FakeTime, numbers: Numbers, options: Options) {
  const events: LimiterEvent[] = [];
  const onEvent = (event: LimiterEvent): void => void events.push(event);
  const limiter: Limiter = createLimiter({ limits: limitsOf(numbers), store, time, log: false, onEvent, ...options });
  return { limiter, events };
}

/** A limiter with concurrency limits on the memory store. */
export function holding(numbers: Numbers, options: Options = {}) {
  const time = new FakeTime(1000);
  const store = memoryStore({ time });
  const made = limiterOn(store, time, numbers, options);
  const hold = (...entries: SpendEntry[]): Decision => keep(made.limiter.spendSync(entries, { hold: true }));
  /** How many slots are held in the store. */
  const inStore = (limit = 'InFlight'): number => slotsIn(store, limit);
  return { ...made, time, store, hold, inStore };
}

/** A limiter with concurrency limits on a remote store. */
export function holdingRemotely(
  numbers: Numbers,
  options: Options = {},
  given: { time?: FakeTime; store?: RemoteStore } = {},
) {
  const { time = new FakeTime(1000) } = given;
  const { store = new RemoteStore(time) } = given;
  const made = limiterOn(store, time, numbers, options);
  const hold = async (...entries: SpendEntry[]): Promise<Decision> =>
    keep(await made.limiter.spend(entries, { hold: true }));
  const inStore = (limit = 'InFlight', id = 'a'): number => slotsIn(store.memory, limit, id);
  return { ...made, time, store, hold, inStore };
}

/** The slots of a bucket by the clock of a store: those that have not expired. */
export function slotsIn(store: Pick<Store, 'run'>, limit: string, id = 'a'): number {
  const taken = { holder: 'nobody', expiryMs: 1000 };
  const bucket = {
    limit,
    id,
    slots: true,
    holding: taken,
    incrementTicks: 0,
    fitTicks: 1,
    capTicks: 1,
    mode: 'check-only',
  } as const;
  const [level = 0] = atOnce(callsOf(store).check([bucket])).levelsTicks;
  return level;
}

/** Holds until a store denies. */
export async function fill(hold: () => Decision | Promise<Decision>): Promise<Decision[]> {
  const all: Decision[] = [];
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const held = await hold();
    if (!held.allowed) return all;
    all.push(held);
  }
}
