// The room testing: the time for tests, and the contract that every store must pass.
import type { Awaitable } from '../async/awaitable.ts';
import { complaint } from '../checks/errors.ts';
import { checkOptions, oneOf } from '../checks/options.ts';
import type { SteeredStoreUnderTest, StoreUnderTest } from './store-case.ts';
import { alternativeCases } from './store-cases/alternatives.ts';
import { batchCases } from './store-cases/batches.ts';
import { blockCases } from './store-cases/blocks.ts';
import { correctionCases } from './store-cases/corrections.ts';
import { deadlineCases } from './store-cases/deadline.ts';
import { keyCases } from './store-cases/keys.ts';
import { holdersCases } from './store-cases/holders.ts';
import { lifeCases } from './store-cases/life.ts';
import { otherNumbersCases } from './store-cases/other-numbers.ts';
import { periodClockCases } from './store-cases/period-clock.ts';
import { periodCases } from './store-cases/period.ts';
import { slotExpiryCases } from './store-cases/slot-expiry.ts';
import { slotCases } from './store-cases/slots.ts';
import { takingCases } from './store-cases/taking.ts';
import { thresholdCases } from './store-cases/thresholds.ts';
import { watchCases } from './store-cases/watch.ts';

/** Options of {@link storeContract} for a store whose clock moves only when a test moves it: all cases run. */
export interface SteeredStoreContractOptions {
  readonly clock: 'steered';
  /** Creates a fresh store for one case. */
  readonly create: () => Awaitable<SteeredStoreUnderTest>;
}

/** Options of {@link storeContract} for a store with a real clock: cases that need a controlled clock are left out. */
export interface RealStoreContractOptions {
  readonly clock: 'real';
  /** Creates a fresh store for one case. */
  readonly create: () => Awaitable<StoreUnderTest>;
}

/** The options of {@link storeContract}. */
export type StoreContractOptions = SteeredStoreContractOptions | RealStoreContractOptions;

/** One case of the contract. */
export interface ContractCase {
  /** The promise, as a sentence: the name of a test. */
  readonly name: string;
  /** Tests the promise on a fresh store. Rejects with an AssertionError when the store breaks it. */
  readonly run: () => Promise<void>;
  /**
   * Whether it stops or disturbs the server of the store by `hang` or `provokeReport`. Run such a case alone. All others can
   * run at the same time, if each store has buckets of its own.
   */
  readonly alone: boolean;
}

const allCases = [
  ...takingCases,
  ...batchCases,
  ...thresholdCases,
  ...alternativeCases,
  ...correctionCases,
  ...otherNumbersCases,
  ...periodCases,
  ...periodClockCases,
  ...slotCases,
  ...slotExpiryCases,
  ...holdersCases,
  ...keyCases,
  ...blockCases,
  ...deadlineCases,
  ...watchCases,
  ...lifeCases,
];

/**
 * Returns the contract that every store must fulfil, as a list of named cases. They depend only on node:assert, so any
 * test runner can run them.
 *
 * @example
 * import { test } from 'vitest'; // or: import { test } from 'node:test'
 * import { FakeTime, storeContract } from '@sluice/core/testing';
 *
 * const cases = storeContract({
 *   clock: 'steered',
 *   create: () => {
 *     const time = new FakeTime();
 *     return {
 *       store: new MyStore({ time }),
 *       advance: (ms) => time.advance(ms),
 *       stepBack: (ms) => time.set(time.nowMs - ms),
 *     };
 *   },
 * });
 * for (const { name, run } of cases) test(name, run);
 *
 * @throws {SluiceError} `ERR_UNKNOWN_OPTION` for an unknown option, `ERR_OPTION` for a missing or wrong one.
 */
export function storeContract(options: StoreContractOptions): readonly ContractCase[] {
  checkContractOptions(options);
  return allCases.flatMap((storeCase) => {
    const { name, disturbs: alone = false } = storeCase;
    if (options.clock === 'steered') return { name, alone, run: () => runSteered(storeCase.check, options.create) };
    return storeCase.clock === 'any' ? { name, alone, run: () => runReal(storeCase.check, options.create) } : [];
  });
}

function checkContractOptions(options: StoreContractOptions): void {
  checkOptions('storeContract', options, ['clock', 'create']);
  oneOf('clock', options.clock, ['steered', 'real'], "Use 'steered' if a test can set the store's time.");
  if (typeof options.create === 'function') return;
  const remedy = 'It makes a fresh store for one case: create: () => ({ store, advance, stepBack }).';
  throw complaint('ERR_OPTION', { option: 'create', demand: 'a function', value: options.create, remedy });
}

// Cases destructure the methods of their subject, so they are bound to it here.
async function runSteered(
  check: (subject: SteeredStoreUnderTest) => Promise<void>,
  create: SteeredStoreContractOptions['create'],
): Promise<void> {
  const subject = await create();
  const stepBack = (ms: number) => subject.stepBack(ms);
  return runReal(
    (real) => check({ ...real, stepBack }),
    () => subject,
  );
}

async function runReal(
  check: (subject: StoreUnderTest) => Promise<void>,
  create: RealStoreContractOptions['create'],
): Promise<void> {
  const subject = await create();
  try {
    const { store } = subject;
    await check({
      store,
      advance: (ms) => subject.advance(ms),
      ...(subject.hang && { hang: (run) => subject.hang!(run) }),
      ...(subject.provokeReport && { provokeReport: () => subject.provokeReport!() }),
    });
  } finally {
    await subject.store.close();
  }
}
