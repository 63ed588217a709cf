import type { Awaitable } from '../async/awaitable.ts';
import { checkCost } from '../decision/batch.ts';
import { coreOf, createLimiter, LIMITER_SETTINGS, type LimiterSettings } from '../limiter/create-limiter.ts';
import type { Decision } from '../decision/decision.ts';
import { complaint, isInstance, SluiceError } from '../checks/errors.ts';
import { clientNetwork } from '../keys/address-keys.ts';
import type { Key } from '../keys/key.ts';
import type { LimiterCore } from '../limiter/limiter-core.ts';
import type { Limiter } from '../limiter/limiter.ts';
import { checkLimitName, type LimitDefinition } from '../limits/limit.ts';
import { checkBoolean, checkFunction, checkOptions, oneOf, type Hints } from '../checks/options.ts';
import type { Override } from '../limits/overrides/override.ts';
import { LIMIT_HINTS, MIDDLEWARE_HINTS } from '../checks/peer-names.ts';
import { rateOf } from '../rule/rate.ts';
import type { Mode } from '../store/store.ts';
import { DIALECTS, type FieldsDialect, type FieldSettings } from './fields.ts';

/** One limit of a middleware, with what a request costs there. */
export interface LimitUse<
  Request = unknown,
  SettleArgs extends readonly unknown[] = readonly unknown[],
  Name extends string = string,
> {
  readonly limit: Name;
  /** Tokens of one request, a whole number from 0 to the burst, or a function that gives it. Default: 1. */
  readonly cost?: number | ((request: Request) => Awaitable<number>) | undefined;
  /** Default: `check-and-spend`. */
  readonly mode?: Mode | undefined;
  /**
   * Gives the true cost, a whole number from 0 up, once the response is finished. With `check-and-spend` the cost is
   * held until then and the difference is given back or charged; with `check-only` it is charged after. When the client
   * goes away before, or the function throws, the full cost stays. The last argument tells how the response ended.
   */
  readonly settle?: ((...args: readonly [...SettleArgs, ResponseEnd]) => Awaitable<number>) | undefined;
  /**
   * Whether `settle` is also asked about a response that its client aborted, for costs that are known then: of a stream,
   * the part that was made. It must count the work that was done. A client that is gone before the handler runs pays
   * the full cost all the same. Default: false.
   */
  readonly settleAborted?: boolean | undefined;
}

/** How the response to a request ended. */
export interface ResponseEnd {
  /** Whether all of it was handed to the system. False: the client left before, or reset its HTTP/2 stream. */
  readonly finished: boolean;
}

/** What every middleware takes, whichever limiter it uses. */
export interface FlowOptions<Request = unknown> {
  /** Lets requests through uncounted for which it gives true. When it throws, nothing is skipped, and the error is thrown on after the decision. */
  readonly skip?: ((request: Request) => Awaitable<boolean>) | undefined;
  /**
   * Decides and spends as if enforced, but never denies, sets no fields and leaves nothing on the request: reports
   * through `onDecision` only. Default: false.
   */
  readonly shadow?: boolean | undefined;
  /** How clients are told their limits; false for not at all (Retry-After stays). Default: `draft-11`. */
  readonly fields?: FieldsDialect | false | undefined;
  /** Lengthens Retry-After by a random share of up to this much, 0 to 0.03. Default: 0. */
  readonly retryJitter?: number | undefined;
  /** Whether CORS preflight requests are limited. Default: false. */
  readonly limitPreflight?: boolean | undefined;
  /** Told of every decision; never awaited. */
  readonly onDecision?: ((decision: Decision, request: Request) => unknown) | undefined;
}

/** Limits of a limiter that other middlewares share. */
export interface SharedLimits<
  Request = unknown,
  SettleArgs extends readonly unknown[] = readonly unknown[],
  Name extends string = string,
> {
  readonly limiter: Limiter<Request, Name>;
  /** Names, or names with costs. They are decided together. Needed when the limiter has more than one limit. */
  readonly limits?: readonly (NoInfer<Name> | LimitUse<Request, SettleArgs, NoInfer<Name>>)[] | undefined;
}

/** One limit of its own. */
export interface InlineLimit<Request = unknown, SettleArgs extends readonly unknown[] = readonly unknown[]>
  extends Omit<LimitDefinition<Request>, 'key'>, Omit<LimitUse<Request, SettleArgs>, 'limit'>, LimiterSettings {
  // Left out, so that the compiler knows which of the two forms is meant, and complains about that one.
  readonly limiter?: never;
  readonly limits?: never;
  /** The limit's name, which clients see. Needed with a `store`. Default: `default`. */
  readonly name?: string | undefined;
  /** What is limited. Default: `clientNetwork()`, an IPv4 address or an IPv6 /48. */
  readonly key?: Key<Request> | undefined;
  /** Other numbers for listed ids; `'unlimited'` lets an id through, `'blocked'` always refuses it. */
  readonly overrides?: Readonly<Record<string, Override>> | undefined;
}

/** The options of a middleware: limits of a shared limiter, or one limit of its own. */
export type MiddlewareOptions<
  Request = unknown,
  SettleArgs extends readonly unknown[] = readonly unknown[],
  Name extends string = string,
> = (SharedLimits<Request, SettleArgs, Name> | InlineLimit<Request, SettleArgs>) & FlowOptions<Request>;

const FLOW_OPTIONS = ['skip', 'shadow', 'fields', 'retryJitter', 'limitPreflight', 'onDecision'] as const;
const SHARED_OPTIONS = ['limiter', 'limits', ...FLOW_OPTIONS] as const;
const USE_OPTIONS = ['cost', 'mode', 'settle', 'settleAborted'] as const;
const NUMBERS = ['burst', 'count', 'period', 'onFailure', 'disabled', 'hidden'] as const;
const INLINE_OPTIONS = [
  'name',
  'key',
  ...NUMBERS,
  'overrides',
  ...USE_OPTIONS,
  ...LIMITER_SETTINGS,
  ...FLOW_OPTIONS,
] as const;

/** A middleware's options, checked and with their defaults. */
export interface FlowSettings<Request, SettleArgs extends readonly unknown[]> extends FieldSettings {
  readonly limiter: LimiterCore<Request>;
  readonly uses: readonly CheckedUse<Request, SettleArgs>[];
  /** See {@link FlowOptions.skip}. */
  readonly skip: FlowOptions<Request>['skip'];
  /** See {@link FlowOptions.onDecision}. */
  readonly onDecision: FlowOptions<Request>['onDecision'];
  readonly shadow: boolean;
  readonly limitPreflight: boolean;
}

/** One limit of a middleware, checked. */
export interface CheckedUse<Request, SettleArgs extends readonly unknown[]> extends LimitUse<Request, SettleArgs> {
  readonly cost: number | ((request: Request) => Awaitable<number>);
  readonly mode: Mode;
}

/**
 * Checks the options of a middleware.
 *
 * @param adapterOptions - Names of options that the adapter takes beside these, and checks itself.
 * @throws {SluiceError} for the first wrong one, with its name, what it must be, what it was and what to write instead.
 */
export function flowSettings<Request, SettleArgs extends readonly unknown[]>(
  options: MiddlewareOptions<Request, SettleArgs>,
  adapterOptions: readonly string[],
): FlowSettings<Request, SettleArgs> {
  const shared = typeof options === 'object' && options !== null && 'limiter' in options;
  const names = [...(shared ? SHARED_OPTIONS : INLINE_OPTIONS), ...adapterOptions];
  checkOptions('rateLimit', options, names, shared ? SHARED_HINTS : MIDDLEWARE_HINTS, EXAMPLE);
  const { skip, shadow = false, fields = 'draft-11', retryJitter = 0, limitPreflight = false, onDecision } = options;
  checkFunction('skip', skip, SKIP_REMEDY);
  checkFunction('onDecision', onDecision, 'For example onDecision: (decision) => metrics.count(decision.outcome).');
  const { onDenied } = options as { onDenied?: unknown };
  checkFunction('onDenied', onDenied, 'It answers a denied request. For the usual answer, leave it out.');
  checkBoolean('shadow', shadow);
  checkBoolean('limitPreflight', limitPreflight);
  const dialect = fields === false ? null : DIALECTS[checkedDialect(fields)];
  const common = { skip, shadow, dialect, retryJitter: checkedJitter(retryJitter), limitPreflight, onDecision };
  return {
    ...common,
    ...(shared
      ? sharedUses(options as SharedLimits<Request, SettleArgs>)
      : inlineUses(options as InlineLimit<Request, SettleArgs>)),
  };
}

/**
 * Refuses options of a route that are no object or have unknown names.
 *
 * @param where - How the message calls them.
 * @param adapterOptions - Names of options that the adapter takes beside `limits`, `cost` and `skip`.
 * @throws {SluiceError} `ERR_OPTION` or `ERR_UNKNOWN_OPTION`.
 */
export function checkRouteOptions(where: string, options: { skip?: unknown }, adapterOptions: readonly string[]): void {
  checkOptions(where, options, ['limits', 'cost', 'skip', ...adapterOptions], SHARED_HINTS);
  checkFunction(`${where}.skip`, options.skip, SKIP_REMEDY);
}

const EXAMPLE = "rateLimit({ count: 100, period: '1m' })";
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
    ['name', 'key', ...NUMBERS, 'overrides', ...LIMITER_SETTINGS].map((name) => [
      name,
      `\`${name}\` belongs to the limiter: give it to createLimiter.`,
    ]),
  ),
  limit: "`limit` is `limits` here, e.g. limits: ['Name'].",
  ...Object.fromEntries(
    USE_OPTIONS.map((name) => [name, `\`${name}\` belongs to one limit: limits: [{ limit: 'Name', ${name}: … }].`]),
  ),
};

type Uses<Request, SettleArgs extends readonly unknown[]> = Pick<FlowSettings<Request, SettleArgs>, 'limiter' | 'uses'>;

function sharedUses<Request, SettleArgs extends readonly unknown[]>(
  options: SharedLimits<Request, SettleArgs>,
): Uses<Request, SettleArgs> {
  const limiter = coreOf(options.limiter);
  return { limiter, uses: limitUses(limiter, options.limits) };
}

/**
 * Checks the limits of one route or middleware.
 *
 * @throws {SluiceError} `ERR_UNKNOWN_LIMIT`, `ERR_DUPLICATE_BUCKET`, `ERR_COST_OVER_BURST` and what is wrong with an
 * option.
 */
export function limitUses<Request, SettleArgs extends readonly unknown[]>(
  limiter: LimiterCore<Request>,
  limits: readonly (string | LimitUse<Request, SettleArgs>)[] | undefined,
): readonly CheckedUse<Request, SettleArgs>[] {
  const names = limiter.limitNames;
  if (names.length === 0 || (limits === undefined && names.length > 1)) throw limitsMissing(names);
  const chosen = limits ?? names;
  if (!Array.isArray(chosen) || chosen.length === 0) {
    const remedy = `For example limits: ['${names.find((name) => name === (limits as unknown)) ?? names[0]}'].`;
    throw complaint('ERR_OPTION', {
      option: 'limits',
      demand: 'an array of at least one limit',
      value: chosen,
      remedy,
    });
  }
  const uses = chosen.map((use: string | LimitUse<Request, SettleArgs>) =>
    checkedUse(limiter, typeof use === 'string' ? { limit: use } : use),
  );
  uses.forEach(({ limit }, i) => {
    if (uses.findIndex((use) => use.limit === limit) === i) return;
    throw new SluiceError(
      'ERR_DUPLICATE_BUCKET',
      `\`limits\` names "${limit}" twice. Name it once, with the sum of the costs.`,
    );
  });
  return required(limiter, uses);
}

function inlineUses<Request, SettleArgs extends readonly unknown[]>(
  options: InlineLimit<Request, SettleArgs>,
): Uses<Request, SettleArgs> {
  const { name, key = clientNetwork(), burst, count, period, onFailure, disabled, hidden, overrides } = options;
  if (name === undefined && options.store !== undefined) {
    const remedy =
      "Buckets are stored under it: two limits with one name would share them. For example name: 'RequestsPerClient'.";
    throw complaint('ERR_OPTION', { option: 'name', demand: 'given with a store', value: name, remedy });
  }
  const limit = name ?? 'default';
  checkLimitName('name', limit);
  // Checked here too, since messages name the option as it was written: `rateLimit.count`.
  rateOf('rateLimit', { burst, count, period });
  const settings = Object.fromEntries(LIMITER_SETTINGS.map((setting) => [setting, options[setting]]));
  const limiter = asWritten(limit, () =>
    createLimiter<Request>({
      ...settings,
      limits: { [limit]: { key, burst, count, period, onFailure, disabled, hidden } },
      ...(overrides !== undefined && { overrides: { [limit]: overrides } }),
    }),
  );
  const { cost, mode, settle, settleAborted } = options;
  const core = coreOf(limiter);
  try {
    const use = asWritten(limit, () => checkedUse(core, { limit, cost, mode, settle, settleAborted }));
    return { limiter: core, uses: required(core, [use]) };
  } catch (error) {
    // Its limit's name is free again on the store.
    void limiter.close();
    throw error;
  }
}

/** Makes a limiter, whose errors name the options of the one limit as the user of `rateLimit` wrote them. */
function asWritten<T>(limit: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!isInstance(error, SluiceError)) throw error;
    const { code, message, status, cause } = error;
    const written = message
      .replaceAll(`\`limits.${limit}`, '`rateLimit')
      .replaceAll(`\`overrides.${limit}`, '`rateLimit.overrides');
    throw new SluiceError(code, written, { status, ...(cause !== undefined && { cause }) });
  }
}

function limitsMissing(names: readonly string[]): SluiceError {
  if (names.length === 0) {
    const remedy = "createLimiter({ limits: { Requests: { key: clientNetwork(), count: 100, period: '1m' } } })";
    return new SluiceError('ERR_OPTION', `\`limiter\` must have a limit, but has none. For example ${remedy}.`);
  }
  const all = names.slice(0, MAX_NAMES).map((name) => `'${name}'`);
  const remedy = `The limiter has ${names.length} limits. Write those that apply here: limits: [${all.join(', ')}].`;
  return complaint('ERR_OPTION', { option: 'limits', demand: 'given', value: undefined, remedy });
}

const MAX_NAMES = 30;

function checkedUse<Request, SettleArgs extends readonly unknown[]>(
  limiter: LimiterCore<Request>,
  use: LimitUse<Request, SettleArgs>,
): CheckedUse<Request, SettleArgs> {
  checkOptions('limits[…]', use, ['limit', ...USE_OPTIONS], { weight: '`weight` is `cost` here.' }, USE_EXAMPLE);
  const { limit, cost = 1, mode = 'check-and-spend', settle, settleAborted = false } = use;
  const where = `limits.${limit}`;
  limiter.limit(limit);
  if (typeof cost !== 'function') checkCost(limit, cost);
  checkFunction(
    `${where}.settle`,
    settle,
    'It returns the true cost, e.g. settle: (req, res) => (res.statusCode === 401 ? 1 : 0).',
  );
  checkBoolean(`${where}.settleAborted`, settleAborted);
  if (settleAborted && settle === undefined) {
    const remedy =
      'It is called for aborted responses too, e.g. settle: (req, res, { finished }) => res.locals.tokens.';
    throw complaint('ERR_OPTION', {
      option: `${where}.settle`,
      demand: 'given with settleAborted',
      value: settle,
      remedy,
    });
  }
  const checkedMode = oneOf(`${where}.mode`, mode, ['check-and-spend', 'check-only', 'spend-only']);
  return { limit, cost, mode: checkedMode, settle, settleAborted };
}

/** Keeps limits and their fixed costs through every `replace`: only of options that are right as a whole. */
function required<Use extends CheckedUse<never, never>>(
  limiter: LimiterCore<never>,
  uses: readonly Use[],
): readonly Use[] {
  for (const { limit, cost } of uses) limiter.requireLimit(limit, typeof cost === 'number' ? cost : 0);
  return uses;
}

const USE_EXAMPLE = "limits: [{ limit: 'Orders', cost: 10 }]";

function checkedDialect(fields: unknown): FieldsDialect {
  const words = Object.keys(DIALECTS) as FieldsDialect[];
  return oneOf(
    'fields',
    fields,
    words,
    "For example fields: 'draft-11', which is the default, or fields: false for no RateLimit fields.",
  );
}

function checkedJitter(value: unknown): number {
  if (typeof value === 'number' && value >= 0 && value <= 0.03) return value;
  const remedy = 'It is a share of the wait, e.g. retryJitter: 0.03 for up to 3 % more.';
  throw complaint('ERR_OPTION', { option: 'retryJitter', demand: 'a number from 0 to 0.03', value, remedy });
}
