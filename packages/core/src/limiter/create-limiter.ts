import type { EventSink, LimiterEvent } from '../events/event.ts';
import { checkFailureOptions, type FailureOptions } from '../limits/failure-options.ts';
import { clientAddressFinder, type ClientAddressOptions } from '../client/client-address.ts';
import type { FixedCost, LimitSetOptions } from '../definitions/limit-set.ts';
import { checkedStore } from './accepted-store.ts';
import { LimiterCore } from './limiter-core.ts';
import type { Limiter } from './limiter.ts';
import type { LimiterSetup } from './limiter-parts.ts';
import type { Limit } from '../limits/limit.ts';
import { eventSink, type Log } from '../events/event-sink.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { notALimiter } from './not-a-limiter.ts';
import type { OnDecision } from './reports.ts';
import { checkFunction, checkOptions, wholeNumber, type Hints } from '../checks/options.ts';
import { LIMIT_HINTS } from '../checks/peer-names.ts';
import { KIND_MARKS } from '../definitions/kind-hints.ts';
import { RATE } from '../kinds/rate/rate.ts';
import { callSiteOf } from '../runtime/call-site.ts';
import type { Store } from '../store/store.ts';
import { systemTime } from '../time/system-time.ts';
import { checkTime, type Time } from '../time/time.ts';

/**
 * The options of a limiter beside its limits: its store, how it finds client addresses, what it does when the store
 * fails, and where its events and log lines go.
 */
export interface LimiterSettings extends ClientAddressOptions {
  /** Where buckets are stored. Default: a memory store of its own, for one process. */
  readonly store?: Store | undefined;
  /** How long to wait for the store, and what to do when it can't answer. Has no effect on the memory store. */
  readonly failure?: FailureOptions | undefined;
  /** Called with each event that an operator may want to know about. Errors that it throws are ignored. */
  readonly onEvent?: ((event: LimiterEvent) => void) | undefined;
  /** Receives log lines; `false` disables logging. Default: `console.warn`. Errors that it throws are ignored. */
  readonly log?: Log | false | undefined;
  /**
   * The source of time of everything that the limiter does: its own memory store, deadlines, outages, raised limits,
   * log lines, dates. A `store` that you pass has its own option `time`. Default: the process's own time; for tests a
   * `FakeTime` of `@sluice/core/testing`.
   */
  readonly time?: Time | undefined;
}

/** The options of {@link createLimiter}. */
export interface LimiterOptions<Request = unknown, Name extends string = string>
  extends LimitSetOptions<Request, Name>, LimiterSettings {
  /**
   * How long an asynchronous `overrides` function may take, in milliseconds, a whole number from 1 to 60,000. After
   * that the limit's own numbers are used, with an event `override-failed`. Default: 50.
   */
  readonly overridesDeadlineMs?: number | undefined;
  /**
   * Called with every decision that `spend` or a middleware makes and the context of the decision, for metrics and
   * logs. The limiter does not wait for it. When it throws or rejects, the limiter emits an event `callback-failed`. It
   * is not called for `check`.
   */
  readonly onDecision?: OnDecision<Request> | undefined;
}

/** The names of the options in {@link LimiterSettings}. */
export const LIMITER_SETTINGS = [
  'store',
  'trustedProxies',
  'addressHeader',
  'decodeNat64',
  'failure',
  'onEvent',
  'log',
  'time',
] as const;

const OPTIONS = ['limits', 'overrides', 'overridesDeadlineMs', 'onDecision', ...LIMITER_SETTINGS] as const;

const A_LIMIT = "limits: { Requests: { key: clientNetwork(), count: 100, period: '1m' } }";
const EXAMPLE = `createLimiter({ ${A_LIMIT} })`;

/** The options of a limit, by our names and by those of other libraries. */
const HINTS: Hints = Object.fromEntries(
  ['key', ...Object.keys(RATE.options), ...KIND_MARKS, ...Object.keys(LIMIT_HINTS)].map((name) => [
    name,
    `\`${name}\` belongs to a limit, e.g. ${A_LIMIT}.`,
  ]),
);

/**
 * Creates a limiter with named limits. All options are validated first: it throws rather than start half-configured.
 *
 *     const limiter = createLimiter({
 *       limits: {
 *         Orders: { key: accountId((req: Request) => req.user.id), count: 300, period: '180m' },
 *       },
 *       overrides: { Orders: { '12345678': { count: 600, period: '180m' } } },
 *     });
 *
 * The type of the limiter contains the names of its limits: `limiter.spend([{ limit: 'Typo', id }])` does not compile.
 * If the names are known only at run time, it accepts any name.
 *
 * @throws {SluiceError} For a wrong option: the message gives its name, the allowed values, the value that was passed
 * and what to write instead. `ERR_LIMIT_IN_USE` when another limiter on the same store object has a limit of
 * the same name with other numbers. With equal numbers both share the buckets, with an event `limit-made-again`.
 */
export function createLimiter<Request = unknown, Name extends string = string>(
  options: LimiterOptions<Request, Name>,
): Limiter<Request, [Name] extends [never] ? string : Name> {
  return new LimiterCore(setupOf(options, createLimiter));
}

/**
 * Creates a limiter whose costs come from data, as those of a proxy or a log do. A cost that can never pass is a denial
 * whose `retryAfterMs` is `Infinity`, and not an error.
 *
 * @throws {SluiceError} The errors of {@link createLimiter}.
 */
export function createDataLimiter(options: LimiterOptions): Limiter {
  return new LimiterCore({ ...setupOf(options, createDataLimiter), costsFromData: true });
}

function setupOf<Request>(
  options: LimiterOptions<Request>,
  called: (options: never) => unknown,
): LimiterSetup<Request> {
  checkOptions('createLimiter', options, OPTIONS, HINTS, EXAMPLE);
  const { limits, overrides, overridesDeadlineMs = 50, onDecision, store, time = systemTime } = options;
  checkTime(time);
  checkFunction(
    'onDecision',
    onDecision,
    'It is called with every decision: onDecision: (decision, { request }) => { … }.',
  );
  const emit = eventSink(options);
  return {
    set: { limits, overrides },
    store: store === undefined ? memoryStore({ time }) : checkedStore(store),
    // Nobody else has a store of its own.
    place: store === undefined ? '' : callSiteOf(called),
    ownsStore: store === undefined,
    failure: checkFailureOptions(options.failure),
    overridesDeadlineMs: wholeNumber('overridesDeadlineMs', overridesDeadlineMs, { min: 1, max: 60_000 }),
    emit,
    onDecision,
    time,
    clientAddress: clientAddressFinder({
      ...options,
      warn: (message) => emit({ type: 'warning', message, once: true }),
    }),
    trustsProxies: (options.trustedProxies ?? []).length > 0,
    costsFromData: false,
  };
}

/**
 * Returns the internal interface of a limiter, which the packages' own middleware uses.
 *
 * @throws {SluiceError} `ERR_OPTION` for any value that `createLimiter` of this copy of the package did not create,
 * including an object that wraps a limiter, such as a Proxy.
 */
export function coreOf<Request>(limiter: Limiter<Request>): LimiterCore<Request> {
  if (!LimiterCore.isCore(limiter)) throw notALimiter(limiter);
  return limiter;
}

/**
 * Returns the current limits of a limiter by name.
 *
 * @throws {SluiceError} `ERR_OPTION` when the value is not a limiter.
 */
export function limitsOf<Request>(limiter: Limiter<Request>): ReadonlyMap<string, Limit<Request>> {
  return coreOf(limiter).limits;
}

/**
 * Rejects a fixed cost that could never pass, before there is an id: that of an option that names a limit.
 *
 * @throws {SluiceError} `ERR_COST_OVER_BURST`, `ERR_UNKNOWN_LIMIT`, `ERR_CLOSED`; `ERR_OPTION` when the value is not a
 * limiter.
 */
export function assertFits<Request>(limiter: Limiter<Request>, fixed: FixedCost): void {
  coreOf(limiter).assertFits(fixed);
}

/**
 * Returns the time of a limiter.
 *
 * @throws {SluiceError} `ERR_OPTION` when the value is not a limiter.
 */
export function timeOf<Request>(limiter: Limiter<Request>): Time {
  return coreOf(limiter).time;
}

/**
 * Returns where the events of a limiter go.
 *
 * @throws {SluiceError} `ERR_OPTION` when the value is not a limiter.
 */
export function emitOf<Request>(limiter: Limiter<Request>): EventSink {
  return coreOf(limiter).emit;
}
