import { assert } from '../assert.ts';
import type { Store } from '../../store/store.ts';
import { slow } from '../sample-limit.ts';
import { disturbingPromise, type StoreCase, type StoreUnderTest } from '../store-case.ts';
import { callsOf } from '../store-calls.ts';

const DEADLINE_MS = 50;
/** After this time a store has missed the deadline for certain. */
const PATIENCE_MS = 2000;
const STEP_MS = 50;
/** A store that says so may find that it could not send a call in time, because the process was busy. */
const LATE: readonly unknown[] = ['ERR_STORE_DEADLINE', 'ERR_STORE_OVERLOAD'];

const calls: readonly (readonly [name: string, call: (store: Store) => unknown])[] = [
  ['spend', (store) => callsOf(store).spend([slow.spend('id')], DEADLINE_MS)],
  ['check', (store) => callsOf(store).check([slow.spend('id')], DEADLINE_MS)],
  ['charge', (store) => callsOf(store).charge([slow.charge('id')], DEADLINE_MS)],
  ['refund', (store) => callsOf(store).refund([slow.refund('id')], DEADLINE_MS)],
  ['reset', (store) => callsOf(store).reset([{ limit: slow.name, id: 'id' }], DEADLINE_MS)],
  [
    'spend of alternatives',
    (store) => callsOf(store).spendFirst([[slow.spend('id')], [slow.spend('next')]], DEADLINE_MS),
  ],
  ['cap', (store) => callsOf(store).cap([slow.cap('id')], DEADLINE_MS)],
];

/** The trait `keepsDeadline`. */
export const deadlineCases: readonly StoreCase[] = [
  disturbingPromise(
    'every call of a store that keeps the deadline rejects in time when nothing answers',
    async (subject) => {
      if (subject.store.traits?.keepsDeadline !== true) return;
      const { hang } = subject;
      assert.ok(hang, 'the store has the trait `keepsDeadline`: give `hang`, so that the contract can test it');
      await hang(() => rejectsInTime(subject));
    },
  ),
];

async function rejectsInTime({ store, advance }: StoreUnderTest): Promise<void> {
  const outcomes = calls.map(async ([name, call]) => {
    const inTime = assert.rejects(async () => call(store), isLate);
    await Promise.race([inTime, failAfter(PATIENCE_MS, name)]);
  });
  await Promise.all([advance(DEADLINE_MS), ...outcomes]);
}

function isLate(error: unknown): true {
  const { code } = error as { readonly code?: unknown };
  assert.ok(LATE.includes(code), `it rejected with ${String(code)} and not with ERR_STORE_DEADLINE`);
  return true;
}

/** Counts timers and not the clock: a stall of this process delays them as it delays those of the store. */
async function failAfter(ms: number, name: string): Promise<never> {
  for (let elapsedMs = 0; elapsedMs < ms; elapsedMs += STEP_MS) {
    // oxlint-disable-next-line no-await-in-loop -- one timer after the other
    await step();
  }
  throw new assert.AssertionError({ message: `${name} did not settle within ${ms} ms` });
}

function step(): Promise<void> {
  // oxlint-disable-next-line no-restricted-globals -- a store that hangs may have any time, or none
  return new Promise((resolve) => void setTimeout(resolve, STEP_MS).unref());
}
