import { complaint, shownName, shownText, SluiceError } from '../checks/errors.ts';
import { checkFunction, isPlainObject } from '../checks/options.ts';
import type { LimitSet } from '../definitions/limit-set.ts';
import { kindOfLimit } from '../kinds/kind.ts';
import { otherCopy, VERSION, type Copy } from '../runtime/copy.ts';
import type { Store, StoreReport } from '../store/store.ts';

/**
 * Validates the option `store` of a limiter.
 *
 * @throws {SluiceError} `ERR_OPTION` when a method is missing, or the guard of a store that does not answer at once.
 */
export function checkedStore(store: Store): Store {
  for (const method of ['run', 'close'] as const) {
    if (isPlainObject(store) && typeof store[method] === 'function') continue;
    throw new SluiceError(
      'ERR_OPTION',
      `must be a store, such as memoryStore(): it has no method \`${method}\`.${storeInstead(store)}`,
      { path: 'store' },
    );
  }
  const { holders, ready, take, watch } = store as {
    readonly [Name in 'holders' | 'ready' | 'take' | 'watch']?: unknown;
  };
  checkFunction('store.ready', ready, 'Leave it out when there is nothing to wait for.');
  checkFunction(
    'store.take',
    take,
    'It is a faster `run` for a `spend` of one batch. Leave it out when `run` is enough.',
  );
  checkFunction('store.holders', holders, 'Leave it out when one process uses the store.');
  checkFunction('store.watch', watch, 'Leave it out when there is nothing to report.');
  if (store.traits?.answersAtOnce !== true) checkGuard(store);
  return store;
}

function checkGuard(store: Store): void {
  const guard = (store.guard ?? {}) as Partial<Copy>;
  if (guard.version === VERSION) return;
  const path = 'store.guard';
  if (guard.version !== undefined)
    throw new SluiceError('ERR_OPTION', `is \`storeGuard\`${otherCopy(guard as Copy)}`, { path });
  const { name = 'Object' } = (store.constructor ?? Object) as { readonly name?: string };
  const line =
    name === 'Object' ? 'store: { guard: storeGuard, … }' : `class ${name} { readonly guard = storeGuard; … }`;
  const remedy =
    `Write import { storeGuard } from '@sluice/core/store'; and ${shownText(line, 120)}. A store whose calls all return ` +
    "values and can't fail has traits = { answersAtOnce: true } instead.";
  const demand = '`storeGuard`, by which failure policies decide when the store does not answer in time';
  throw complaint('ERR_OPTION', { option: path, demand, value: store.guard, remedy });
}

/** What to write for a value that leads to a store, after a space; nothing for what does not. */
function storeInstead(given: unknown): string {
  if (given === null) return ' For a memory store of its own, leave `store` out.';
  if (typeof given === 'function')
    return ` It is a function: write what it returns, store: ${shownName(given.name || 'makeStore')}(…).`;
  const { sendCommand, query, connect, then } = given as Readonly<Record<string, unknown>>;
  if (typeof then === 'function') return ' It is a promise: write store: await ….';
  const isUrl = (scheme: string): boolean => typeof given === 'string' && given.startsWith(scheme);
  if (isUrl('redis')) return " For a Redis URL, write store: redisStore({ url }), from '@sluice/redis'.";
  if (isUrl('postgres'))
    return " For a PostgreSQL URL, write store: postgresStore({ connectionString }), from '@sluice/postgres'.";
  if (typeof sendCommand === 'function')
    return " For a Redis client, write store: redisStore({ client }), from '@sluice/redis'.";
  if (typeof query === 'function' && typeof connect === 'function')
    return " For a pool of pg, write store: postgresStore({ pool }), from '@sluice/postgres'.";
  return '';
}

/**
 * Listens to the reports of a store.
 *
 * @returns A function that ends them; `undefined` if the store makes none.
 * @throws {SluiceError} `ERR_OPTION` when `store.watch` returns something else, and whatever it throws.
 */
export function watchedStore(store: Store, listener: (report: StoreReport) => void): (() => void) | undefined {
  const end = store.watch?.(listener);
  checkFunction('store.watch(…)', end, 'It removes the listener: return () => listeners.delete(listener).');
  return end;
}

/**
 * Rejects limits that a store can't carry.
 *
 * @throws {SluiceError} `ERR_OPTION`.
 */
export function checkCarries(store: Store, { limits }: LimitSet<never>): void {
  for (const limit of limits.values()) kindOfLimit(limit).checkStore?.(store, limit);
}
