import type { LimiterEvent } from '../events/event.ts';
import { SluiceError } from '../checks/errors.ts';
import { checkFailureOptions, type FailureOptions } from '../failure/failure-options.ts';
import { clientAddressFinder, type ClientAddressOptions } from '../client/client-address.ts';
import type { LimitSetOptions } from '../limits/limit-set.ts';
import { LimiterCore } from './limiter-core.ts';
import type { Limiter } from './limiter.ts';
import type { Limit } from '../limits/limit.ts';
import type { Log } from '../events/throttled-log.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { notALimiter } from './not-a-limiter.ts';
import { notifier } from '../events/event-sink.ts';
import type { OnDecision } from './on-decision.ts';
import { checkFunction, checkOptions, isPlainObject, wholeNumber } from '../checks/options.ts';
import type { Store } from '../store/store.ts';

/** What a limiter needs beside its limits: where buckets live, how clients are found, what happens in trouble. */
export interface LimiterSettings extends ClientAddressOptions {
  /** Where buckets live. Default: a memory store of its own, for one process. */
  readonly store?: Store | undefined;
  /** For stores that can fail: how long to wait for them, and what holds then. */
  readonly failure?: FailureOptions | undefined;
  /** Told of everything an operator may want to know. What it throws is ignored. */
  readonly onEvent?: ((event: LimiterEvent) => void) | undefined;
  /** Where log lines go; `false` for nowhere. Default: `console.warn`. What it throws is ignored. */
  readonly log?: Log | false | undefined;
}

/** The options of {@link createLimiter}. */
export interface LimiterOptions<Request = unknown, Name extends string = string>
  extends LimitSetOptions<Request, Name>, LimiterSettings {
  /** How long an `overrides` function may take, in milliseconds, a whole number from 1 to 60,000. Default: 50. */
  readonly overridesDeadlineMs?: number | undefined;
  /**
   * Called with every decision that `spend` or a middleware makes, and where it was made: for metrics and logs. Never
   * awaited; what it throws is an event `callback-failed`. Not called for `check`, which takes nothing.
   */
  readonly onDecision?: OnDecision<Request> | undefined;
}

/** The names of {@link LimiterSettings}. */
export const LIMITER_SETTINGS = [
  'store',
  'trustedProxies',
  'addressHeader',
  'decodeNat64',
  'failure',
  'onEvent',
  'log',
] as const;

const OPTIONS = ['limits', 'overrides', 'overridesDeadlineMs', 'onDecision', ...LIMITER_SETTINGS] as const;

const EXAMPLE = "createLimiter({ limits: { Requests: { key: clientNetwork(), count: 100, period: '1m' } } })";

/**
 * Makes a limiter of named limits. It is checked whole: a limiter never starts half-configured.
 *
 *     const limiter = createLimiter({
 *       limits: { Orders: { key: accountId((req: Request) => req.user.id), count: 300, period: '180m' } },
 *       overrides: { Orders: { '12345678': { count: 600, period: '180m' } } },
 *     });
 *
 * The limiter knows the names of its limits: `limiter.spend([{ limit: 'Typo', id }])` does not compile. Without limits, or
 * with limits that are known only at run time, it takes any name.
 *
 * @throws {SluiceError} for any wrong option, with its name, what it must be, what it was and what to write instead;
 * `ERR_LIMIT_IN_USE` when another limiter has a limit of one of these names on the same store.
 */
export function createLimiter<Request = unknown, Name extends string = string>(
  options: LimiterOptions<Request, Name>,
): Limiter<Request, [Name] extends [never] ? string : Name> {
  checkOptions('createLimiter', options, OPTIONS, {}, EXAMPLE);
  const { limits, overrides, overridesDeadlineMs = 50, onDecision, store } = options;
  checkFunction(
    'onDecision',
    onDecision,
    'It is told of every decision: onDecision: (decision, { request }) => { … }.',
  );
  const notify = notifier(options);
  return new LimiterCore<Request>({
    set: { limits, overrides },
    store: store === undefined ? memoryStore() : checkedStore(store),
    ownsStore: store === undefined,
    failure: checkFailureOptions(options.failure),
    overridesDeadlineMs: wholeNumber('overridesDeadlineMs', overridesDeadlineMs, { min: 1, max: 60_000 }),
    notify,
    onDecision,
    clientAddress: clientAddressFinder({
      ...options,
      warn: (message) => notify({ type: 'warning', message, once: true }),
    }),
  });
}

/**
 * Gives the inside of a limiter to the packages' own middleware.
 *
 * @throws {SluiceError} `ERR_OPTION` for anything that `createLimiter` of this copy of the package did not make: also for
 * an object around a limiter, such as a Proxy.
 */
export function coreOf<Request>(limiter: Limiter<Request>): LimiterCore<Request> {
  if (!LimiterCore.isCore(limiter)) throw notALimiter(limiter);
  return limiter;
}

/**
 * The limits that a limiter has now, by name.
 *
 * @throws {SluiceError} `ERR_OPTION` for what is no limiter.
 */
export function limitsOf<Request>(limiter: Limiter<Request>): ReadonlyMap<string, Limit<Request>> {
  return coreOf(limiter).set.limits;
}

function checkedStore(store: Store): Store {
  for (const method of ['spend', 'check', 'charge', 'refund', 'reset', 'close'] as const) {
    if (isPlainObject(store) && typeof store[method] === 'function') continue;
    throw new SluiceError(
      'ERR_OPTION',
      `\`store\` must be a store, such as memoryStore(): it has no method \`${method}\`.`,
    );
  }
  const remedy = 'Leave it out when there is nothing to wait for.';
  checkFunction('store.ready', (store as { readonly ready?: unknown }).ready, remedy);
  return store;
}
