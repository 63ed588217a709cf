import { assert } from '../assert.ts';
import type { Store } from '../../store/store.ts';
import { slow } from '../sample-limit.ts';
import { disturbingPromise, type StoreCase, type StoreUnderTest } from '../store-case.ts';
import { callsOf } from '../store-calls.ts';

const DEADLINE_MS = 50;
/** After this time a store has missed the deadline for certain. */
const PATIENCE_MS = 2000;
const STEP_MS = 50;
/** A store may find that this process was too busy to send a call in time. */
const LATE = /^ERR_STORE_(DEADLINE|OVERLOAD)$/;

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
    const inTime = assert.rejects(async () => call(store), { code: LATE });
    await Promise.race([inTime, failAfter(PATIENCE_MS, name)]);
  });
  await Promise.all([advance(DEADLINE_MS), ...outcomes]);
}

/** Counts timers and not the clock: a stall of this process delays them as it delays those of the store. */
async function failAfter(ms: number, name: string): Promise<never> {
  for (let elapsedMs = 0; elapsedMs < ms; elapsedMs += STEP_MS) {
    // oxlint-disable-next-line no-await-in-loop, no-restricted-globals -- a store that hangs may have any time, or none
    await new Promise((resolve) => void setTimeout(resolve, STEP_MS).unref());
  }
  throw new assert.AssertionError({ message: `${name} did not settle within ${ms} ms` });
}
