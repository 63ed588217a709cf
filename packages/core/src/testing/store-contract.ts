import type { Awaitable } from '../async/awaitable.ts';
import { complaint } from '../checks/errors.ts';
import { checkOptions, oneOf } from '../checks/options.ts';
import type { SteeredStoreUnderTest, StoreUnderTest } from './store-case.ts';
import { batchCases } from './store-cases/batches.ts';
import { correctionCases } from './store-cases/corrections.ts';
import { keyCases } from './store-cases/keys.ts';
import { lifeCases } from './store-cases/life.ts';
import { otherNumbersCases } from './store-cases/other-numbers.ts';
import { takingCases } from './store-cases/taking.ts';

/** What {@link storeContract} must know of a store whose time stands still until it is moved: all cases can run. */
export interface SteeredStoreContractOptions {
  readonly clock: 'steered';
  /** Makes a fresh store for one case. */
  readonly create: () => Awaitable<SteeredStoreUnderTest>;
}

/** The same of a store whose time goes on by itself: cases that need a moment at a standstill are left out. */
export interface RealStoreContractOptions {
  readonly clock: 'real';
  /** Makes a fresh store for one case. */
  readonly create: () => Awaitable<StoreUnderTest>;
}

/** Options of {@link storeContract}. */
export type StoreContractOptions = SteeredStoreContractOptions | RealStoreContractOptions;

/** One promise of the contract, ready to run. */
export interface ContractCase {
  /** The promise, as a sentence: the name of a test. */
  readonly name: string;
  /** Checks the promise on a fresh store; rejects with an AssertionError when it is broken. */
  readonly run: () => Promise<void>;
}

const allCases = [...takingCases, ...batchCases, ...correctionCases, ...otherNumbersCases, ...keyCases, ...lifeCases];

/**
 * The contract that every store must keep, as a list of named cases. They need nothing but node:assert, so any test
 * runner can run them.
 *
 * @example
 * import { test } from 'vitest'; // or: import { test } from 'node:test'
 * import { FakeClock, storeContract } from '@sluice/core/testing';
 *
 * const cases = storeContract({
 *   clock: 'steered',
 *   create: () => {
 *     const clock = new FakeClock(0);
 *     return {
 *       store: new MyStore({ clock }),
 *       advance: (ms) => clock.advance(ms),
 *       stepBack: (ms) => clock.set(clock.nowMs - ms),
 *     };
 *   },
 * });
 * for (const { name, run } of cases) test(name, run);
 *
 * @throws {SluiceError} `ERR_UNKNOWN_OPTION` for an option that is none, `ERR_OPTION` for one that is missing or wrong.
 */
export function storeContract(options: StoreContractOptions): readonly ContractCase[] {
  checkContractOptions(options);
  return allCases.flatMap((storeCase) => {
    const { name } = storeCase;
    if (options.clock === 'steered') return { name, run: () => runSteered(storeCase.check, options.create) };
    return storeCase.clock === 'any' ? { name, run: () => runReal(storeCase.check, options.create) } : [];
  });
}

function checkContractOptions(options: StoreContractOptions): void {
  checkOptions('storeContract', options, ['clock', 'create']);
  oneOf('clock', options.clock, ['steered', 'real'], "Use 'steered' if a test can set the store's time.");
  if (typeof options.create === 'function') return;
  const remedy = 'It makes a fresh store for one case: create: () => ({ store, advance, stepBack }).';
  throw complaint('ERR_OPTION', { option: 'create', demand: 'a function', value: options.create, remedy });
}

// Cases take the methods out of their subject, so they are bound to it here.
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
    await check({ store: subject.store, advance: (ms) => subject.advance(ms) });
  } finally {
    await subject.store.close();
  }
}
