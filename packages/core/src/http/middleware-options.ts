import type { Awaitable } from '../async/awaitable.ts';
import { coreOf, createLimiter, LIMITER_SETTINGS, type LimiterSettings } from '../limiter/create-limiter.ts';
import type { Decision } from '../decision/decision.ts';
import type { HeldUntil } from '../decision/holding.ts';
import { complaint, isInstance, SluiceError } from '../checks/errors.ts';
import { clientNetwork } from '../keys/address-keys.ts';
import { checkCallerDeadline, type CallerDeadline } from './caller-deadline.ts';
import { QueuedRequests } from './queued-requests.ts';
import type { Key } from '../keys/key.ts';
import { isOfKind, kindOf, ofKind, type LimitOfKind } from '../kinds/limit-of-kind.ts';
import { RATE, type Rate } from '../kinds/rate/rate.ts';
import type { Limiter } from '../limiter/limiter.ts';
import { LimiterCore } from '../limiter/limiter-core.ts';
import type { RequestLimiter } from '../limiter/request-limiter.ts';
import type { LimitDefinition } from '../definitions/limit-definition.ts';
import { rejectOtherKinds } from '../definitions/kind-hints.ts';
import type { LimitSettings } from '../limits/limit-settings.ts';
import { DEFAULT_NAME } from './shown-names.ts';
import { checkedHeldUntil, type SlotOptions } from './slots-until.ts';
import { LIMIT_ROWS } from '../definitions/define-limits.ts';
import { checkLimitName } from '../limits/limit-name.ts';
import { checkBoolean, checkFunction, checkOptions, wholeNumber, type Hints } from '../checks/options.ts';
import type { Override } from '../definitions/overrides/override.ts';
import { LIMIT_HINTS, MIDDLEWARE_HINTS } from '../checks/peer-names.ts';
import { checkedFields, type FieldsDialect, type FieldSettings } from './fields.ts';
import { checkedUse, limitUses, preparedUses, USE_OPTIONS, type LimitUse, type UsedLimits } from './limit-uses.ts';

/** The options that every middleware has. */
export interface FlowOptions<Request = unknown> {
  /**
   * Returns true for requests to let through uncounted. If it throws, nothing is skipped: the limits are decided, and
   * unless they deny the request, the error is passed to the framework's error handler.
   */
  readonly skip?: ((request: Request) => Awaitable<boolean>) | undefined;
  /**
   * Decides and spends as usual, but denies no request, sets no fields and stores nothing on the request: decisions are
   * only reported to `onDecision`. Default: false.
   */
  readonly shadow?: boolean | undefined;
  /** The format of the rate limit fields; false for none (Retry-After is still set). Default: `draft-11`. */
  readonly fields?: FieldsDialect | false | undefined;
  /**
   * How many requests this middleware queues at the same time because of the `maxWait` of a limit, a whole number from 0
   * to 1,000,000. While it queues that many, a request that needs a delay is denied. Default: 1000.
   */
  readonly maxQueued?: number | undefined;
  /**
   * When the caller of a request gives up: a function that returns milliseconds from now, or a `Date`, or undefined for one
   * that waits; or `fromHeaders()`. A request that could begin only after that is denied at once with 429 and takes nothing,
   * and the `reason` of its decision is `deadline`. Neither `maxWait` nor a store keeps a request longer. If the function
   * fails, the limits are decided without a deadline, as when `skip` fails. Default: callers wait.
   */
  readonly deadline?: CallerDeadline<Request> | undefined;
  /** The largest random extension of Retry-After, as a fraction of the wait, from 0 to 0.03. Default: 0. */
  readonly retryJitter?: number | undefined;
  /** Whether CORS preflight requests are limited. Default: false. */
  readonly limitPreflight?: boolean | undefined;
  /**
   * Called with every decision of this middleware. The middleware does not wait for it; if it throws or rejects, the
   * limiter emits an event `callback-failed`.
   */
  readonly onDecision?: ((decision: Decision, request: Request) => unknown) | undefined;
}

/** The options of a middleware with a limiter that other middlewares can share. */
export interface SharedLimits<
  Request = unknown,
  SettleArgs extends readonly unknown[] = readonly unknown[],
  Name extends string = string,
> {
  readonly limiter: Limiter<Request, Name>;
  /**
   * Names of limits, or limits with a cost, a mode or a share. They are decided together. Required if the limiter has
   * more than one limit.
   */
  readonly limits?: readonly (NoInfer<Name> | LimitUse<Request, SettleArgs, NoInfer<Name>>)[] | undefined;
}

/** The options of a middleware with one limit of its own, beside the limit. */
export interface InlineSettings<Request = unknown, SettleArgs extends readonly unknown[] = readonly unknown[]>
  extends Omit<LimitUse<Request, SettleArgs>, 'limit'>, LimiterSettings {
  // Declared as never, so that the compiler can tell the two forms apart and reports errors for the intended one.
  readonly limiter?: never;
  readonly limits?: never;
  /** The limit's name, which clients see. Required with a `store`. Default: `default`. */
  readonly name?: string | undefined;
  /** Other numbers for listed ids; `'unlimited'` lets an id through, `'blocked'` denies it always. */
  readonly overrides?: Readonly<Record<string, Override>> | undefined;
}

/** A rate of a middleware's own: its numbers are options of the middleware. */
export interface InlineRate<Request = unknown> extends Omit<LimitSettings<Request>, 'key'>, Rate {
  readonly limit?: never;
  /**
   * What is limited. Default: `clientNetwork()`, which is an IPv4 address or an IPv6 /48. Where a provider gives each
   * customer a /56 or a /64, 256 or 65,536 customers share a /48, unless you use
   * `clientNetwork({ ipv6PrefixLength: 56 })` or `64`.
   */
  readonly key?: Key<Request> | undefined;
}

/** A limit of another kind, of a middleware's own: `{ limit: concurrency({ key, concurrency: 10 }) }`. */
export type InlineOfKind<Request = unknown> = { readonly limit: LimitOfKind<Request> } & {
  readonly [Name in Exclude<keyof InlineRate, 'limit'>]?: never;
};

/** The options of a middleware with one limit of its own: a rate, or a limit of another kind. */
export type InlineLimit<Request = unknown, SettleArgs extends readonly unknown[] = readonly unknown[]> = InlineSettings<
  Request,
  SettleArgs
> &
  // The last one: of several forms that lack a property, the compiler names that of the last, and most limits are rates.
  (InlineOfKind<Request> | InlineRate<Request>);

/** The options of a middleware: limits of a shared limiter, or one limit of its own. */
export type MiddlewareOptions<
  Request = unknown,
  SettleArgs extends readonly unknown[] = readonly unknown[],
  Name extends string = string,
> = (SharedLimits<Request, SettleArgs, Name> | InlineLimit<Request, SettleArgs>) &
  FlowOptions<Request> &
  SlotOptions<SettleArgs>;

const FLOW_OPTIONS = [
  'skip',
  'shadow',
  'fields',
  'retryJitter',
  'limitPreflight',
  'deadline',
  'maxQueued',
  'slotsUntil',
  'onDecision',
] as const;
const SHARED_OPTIONS = ['limiter', 'limits', ...FLOW_OPTIONS] as const;
const NUMBERS = ['key', ...Object.keys(RATE.options), 'onFailure', ...Object.keys(LIMIT_ROWS)];
const INLINE_OPTIONS = [
  'name',
  'limit',
  ...NUMBERS,
  'overrides',
  ...USE_OPTIONS,
  ...LIMITER_SETTINGS,
  ...FLOW_OPTIONS,
] as const;

/** The options of a middleware, validated and with defaults. */
export interface FlowSettings<Request, SettleArgs extends readonly unknown[]>
  extends FieldSettings, UsedLimits<Request, SettleArgs> {
  readonly limiter: RequestLimiter<Request>;
  /** See {@link FlowOptions.skip}. */
  readonly skip: FlowOptions<Request>['skip'];
  /** See {@link FlowOptions.onDecision}. */
  readonly onDecision: FlowOptions<Request>['onDecision'];
  readonly shadow: boolean;
  readonly limitPreflight: boolean;
  /** See {@link FlowOptions.deadline}. */
  readonly deadline: FlowOptions<Request>['deadline'];
  /** The requests that are queued for a delay. */
  readonly queued: QueuedRequests;
  /** See {@link SlotOptions.slotsUntil}. */
  readonly heldUntil: HeldUntil<SettleArgs>;
}

/**
 * Validates the options of a middleware.
 *
 * @param adapterOptions - Names of further options, which the adapter validates itself.
 * @param caller - The function that has the options, as messages name it.
 * @throws {SluiceError} For the first wrong option: the message gives its name, the allowed values, the value that was
 * passed and what to write instead.
 */
export function flowSettings<Request, SettleArgs extends readonly unknown[]>(
  options: MiddlewareOptions<Request, SettleArgs>,
  adapterOptions: readonly string[],
  caller = 'rateLimit',
): FlowSettings<Request, SettleArgs> {
  if (LimiterCore.isCore(options)) throw limiterAsOptions(caller);
  const shared = typeof options === 'object' && options !== null && 'limiter' in options;
  const names = [...(shared ? SHARED_OPTIONS : INLINE_OPTIONS), ...adapterOptions];
  if (!shared) checkUnwrapped(caller, options);
  checkOptions(caller, options, names, shared ? SHARED_HINTS : MIDDLEWARE_HINTS, `${caller}(${EXAMPLE})`);
  const { skip, shadow = false, fields, retryJitter = 0, limitPreflight = false, onDecision } = options;
  const { maxQueued = 1000, deadline } = options;
  checkFunction('skip', skip, SKIP_REMEDY);
  checkFunction('onDecision', onDecision, 'For example onDecision: (decision) => metrics.count(decision.outcome).');
  const { onDenied } = options as { onDenied?: unknown };
  checkFunction('onDenied', onDenied, 'It answers a denied request. For the usual answer, leave it out.');
  checkCallerDeadline(deadline);
  checkBoolean('shadow', shadow);
  checkBoolean('limitPreflight', limitPreflight);
  const dialect = checkedFields(fields);
  const queued = new QueuedRequests(
    wholeNumber('maxQueued', maxQueued, { min: 0, max: 1_000_000, remedy: MAX_HELD_REMEDY }),
  );
  const heldUntil = checkedHeldUntil(options, shared || holds(options as { limit?: unknown }));
  const answers = { dialect, retryJitter: checkedJitter(retryJitter) };
  const common = { skip, shadow, limitPreflight, deadline, onDecision, queued, heldUntil, ...answers };
  return {
    ...common,
    ...(shared
      ? sharedUses(options as SharedLimits<Request, SettleArgs>)
      : inlineUses(options as InlineLimit<Request, SettleArgs>, caller)),
  };
}

/**
 * Validates the names and the `skip` option of route options.
 *
 * @param where - How the message names the options.
 * @param adapterOptions - Names of further options of the adapter, beside `limits`, `cost`, `share` and `skip`.
 * @throws {SluiceError} `ERR_OPTION` or `ERR_UNKNOWN_OPTION`.
 */
export function checkRouteOptions(where: string, options: { skip?: unknown }, adapterOptions: readonly string[]): void {
  checkOptions(where, options, ['limits', 'cost', 'share', 'skip', ...adapterOptions], SHARED_HINTS);
  checkFunction(`${where}.skip`, options.skip, SKIP_REMEDY);
}

const EXAMPLE = "{ count: 100, period: '1m' }";
const MAX_HELD_REMEDY = 'Each request that waits keeps a connection. For the default of 1000 leave it out.';
const SKIP_REMEDY = "It returns true for requests that pass uncounted, e.g. skip: (req) => req.path === '/health'.";

const SHARED_HINTS: Hints = {
  ...MIDDLEWARE_HINTS,
  ...Object.fromEntries(
    Object.entries(LIMIT_HINTS).map(([name, hint]) => [
      name,
      `${hint} It belongs to the limiter: give it to createLimiter, and name the limit here, e.g. limits: ['Name'].`,
    ]),
  ),
  ...Object.fromEntries(
    ['name', ...NUMBERS, 'overrides', ...LIMITER_SETTINGS].map((name) => [
      name,
      `\`${name}\` belongs to the limiter: give it to createLimiter.`,
    ]),
  ),
  limit: "`limit` is `limits` here, e.g. limits: ['Name'].",
  ...Object.fromEntries(
    USE_OPTIONS.map((name) => [name, `\`${name}\` belongs to one limit: limits: [{ limit: 'Name', ${name}: … }].`]),
  ),
};

function limiterAsOptions(caller: string): SluiceError {
  return new SluiceError(
    'ERR_OPTION',
    `must be an object of options, but was a limiter. Write ${caller}({ limiter, limits: ['Name'] }).`,
    { path: caller },
  );
}

interface LimiterWithUses<Request, SettleArgs extends readonly unknown[]> extends UsedLimits<Request, SettleArgs> {
  readonly limiter: RequestLimiter<Request>;
}

function sharedUses<Request, SettleArgs extends readonly unknown[]>(
  options: SharedLimits<Request, SettleArgs>,
): LimiterWithUses<Request, SettleArgs> {
  const limiter = coreOf(options.limiter);
  return { limiter, ...limitUses(limiter, options.limits) };
}

function inlineUses<Request, SettleArgs extends readonly unknown[]>(
  options: InlineLimit<Request, SettleArgs>,
  caller: string,
): LimiterWithUses<Request, SettleArgs> {
  const { name, overrides } = options;
  if (name === undefined && options.store !== undefined) {
    const remedy =
      "Buckets are stored under it: two limits with one name would share them. For example name: 'RequestsPerClient'.";
    throw complaint('ERR_OPTION', { option: 'name', demand: 'given with a store', value: name, remedy });
  }
  const limit = name ?? DEFAULT_NAME;
  checkLimitName('name', limit);
  const { own, others, written } = inlineLimits(caller, limit, options);
  const settings = Object.fromEntries(LIMITER_SETTINGS.map((setting) => [setting, options[setting]]));
  const asWritten = writtenBy(caller, { ...written, [limit]: isOfKind(options.limit) ? `${caller}.limit` : caller });
  const limiter = asWritten(() =>
    createLimiter<Request>({
      ...settings,
      limits: { [limit]: own, ...others },
      ...(overrides !== undefined && { overrides: { [limit]: overrides } }),
    }),
  );
  const { cost, mode, share, settle, settleAborted } = options;
  const core = coreOf(limiter);
  try {
    const use = asWritten(() => checkedUse(core, { limit, cost, mode, share, settle, settleAborted }));
    return { limiter: core, ...preparedUses(core, [use]) };
  } catch (error) {
    // Releases the name of the limit on the store.
    void limiter.close();
    throw error;
  }
}

interface OwnLimits<Request> {
  readonly own: LimitDefinition<Request>;
  readonly others: Readonly<Record<string, LimitDefinition<Request>>>;
  readonly written: Readonly<Record<string, string>>;
}

/** Returns the limit of a middleware as createLimiter has it, and the limits that it needs beside it. */
function inlineLimits<Request>(caller: string, name: string, options: InlineLimit<Request, never>): OwnLimits<Request> {
  const { limit } = options;
  if (limit === undefined) {
    const rate = Object.fromEntries(NUMBERS.map((number) => [number, options[number as keyof LimitSettings]]));
    return {
      own: { ...rate, key: rate['key'] ?? clientNetwork() } as LimitDefinition<Request>,
      others: {},
      written: {},
    };
  }
  if (!isOfKind(limit)) throw notOfKind(caller, limit);
  const beside = NUMBERS.find((number) => options[number as keyof LimitSettings] !== undefined);
  if (beside !== undefined) throw besideLimit(caller, beside);
  const kind = kindOf(`${caller}.limit`, limit);
  const inline = kind.links?.inline(`${caller}.limit`, name, limit) ?? { options: limit, others: {}, written: {} };
  const own = ofKind<Request, { readonly key?: Key<Request> }>(kind, {
    key: kind.key ?? clientNetwork(),
    ...inline.options,
  });
  return { ...inline, own, others: inline.others as OwnLimits<Request>['others'] };
}

/** Whether decisions by the limit of a middleware hold something. */
function holds({ limit }: { limit?: unknown }): boolean {
  return isOfKind(limit) && kindOf('limit', limit).level === 'held';
}

function checkUnwrapped(caller: string, options: object): void {
  if ((options as { limit?: unknown } | null)?.limit === undefined) rejectOtherKinds(caller, options, RATE, caller);
}

function notOfKind(caller: string, value: unknown): SluiceError {
  if (typeof value !== 'object')
    return complaint('ERR_UNKNOWN_OPTION', {
      option: `${caller}.limit`,
      demand: 'a limit of a kind',
      value,
      remedy: LIMIT_HINTS['limit']!,
    });
  return complaint('ERR_OPTION', {
    option: `${caller}.limit`,
    demand: 'a limit of a kind, such as concurrency({ key, concurrency: 10 })',
    value,
    remedy: `The numbers of a rate are options themselves: ${caller}(${EXAMPLE}).`,
  });
}

function besideLimit(caller: string, option: string): SluiceError {
  return new SluiceError(
    'ERR_OPTION',
    'must be left out beside `limit`: give it to the function that makes the limit.',
    {
      path: `${caller}.${option}`,
    },
  );
}

/** Returns a function that calls another, and renames options in its errors as the user of `caller` wrote them. */
function writtenBy(caller: string, limits: Readonly<Record<string, string>>): <T>(make: () => T) => T {
  // The longest first, because the name of a limit may begin with that of another.
  const written = Object.entries(limits)
    .toSorted(([one], [other]) => other.length - one.length)
    .flatMap(([name, path]) => [
      [`limits.${name}`, path],
      [`overrides.${name}`, `${caller}.overrides`],
    ]);
  return (make) => {
    try {
      return make();
    } catch (error) {
      if (!isInstance(error, SluiceError)) throw error;
      const { path = '' } = error;
      const [inner, outer] = written.find(([each]) => path.startsWith(each!)) ?? [];
      throw inner === undefined ? error : error.withPath(outer! + path.slice(inner.length));
    }
  };
}

function checkedJitter(value: unknown): number {
  if (typeof value === 'number' && value >= 0 && value <= 0.03) return value;
  const remedy = 'It is a share of the wait, e.g. retryJitter: 0.03 for up to 3 % more.';
  throw complaint('ERR_OPTION', { option: 'retryJitter', demand: 'a number from 0 to 0.03', value, remedy });
}
