import { SluiceError } from '@sluice/core';
import {
  checkRouteOptions,
  flowSettings,
  limitUses,
  type FlowOptions,
  type FlowSettings,
  type InlineLimit,
  type LimitUse,
  type SlotOptions,
} from '@sluice/core/http';
import { isPlainObject, LIMIT_HINTS, listed, RATE, shownName } from '@sluice/core/kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { checkedHook, type Hook } from './hook.ts';

/** The first arguments of `settle` functions in Fastify. */
export type SettleArgs = readonly [FastifyRequest, FastifyReply];

/** The `config.rateLimit` of a route, which replaces options of the plugin for its requests. */
export interface RouteLimits extends WithoutNumbers {
  /** Limits of the plugin's limiter that apply here instead of the plugin's. They are decided together. */
  readonly limits?: readonly (string | LimitUse<FastifyRequest, SettleArgs>)[] | undefined;
  /**
   * Tokens of one request of this route, or a function that returns them. It replaces the costs of the plugin's limits,
   * and applies to those of `limits` that have no cost of their own.
   */
  readonly cost?: LimitUse<FastifyRequest>['cost'];
  /**
   * The part of the buckets that a request of this route may use up, or a function that returns it. It replaces the shares
   * of the plugin's limits, and applies to those of `limits` that have no share of their own.
   */
  readonly share?: LimitUse<FastifyRequest>['share'];
  /** Returns true for requests that pass without being counted. It replaces the `skip` of the plugin. */
  readonly skip?: FlowOptions<FastifyRequest>['skip'];
  /** The hook in which the limits of this route are decided. Default: the plugin's hook. */
  readonly hook?: Hook | undefined;
}

/** The options that a {@link RouteLimit} has, declared so that the compiler can tell the two forms apart. */
interface WithoutNumbers {
  readonly burst?: never;
  readonly count?: never;
  readonly period?: never;
  readonly limit?: never;
  // Of limits that a function makes.
  readonly per?: never;
  readonly concurrency?: never;
  readonly load?: never;
  readonly borrow?: never;
}

/**
 * The `config.rateLimit` of a route with one limit of its own, instead of the plugin's: `{ count: 100, period: '1m' }`.
 * No other route counts by it. Of the plugin, which has no `limiter` then, it has the store, the key and all other
 * options that it leaves out.
 */
export type RouteLimit = InlineLimit<FastifyRequest, SettleArgs> &
  SlotOptions<SettleArgs> & {
    /** Returns true for requests that pass without being counted. It replaces the `skip` of the plugin. */
    readonly skip?: FlowOptions<FastifyRequest>['skip'];
    /** The hook in which the limit is decided. Default: the plugin's hook. */
    readonly hook?: Hook | undefined;
  };

/** Whether a route has a limit of its own, and not limits of the plugin's limiter. */
export function hasOwnLimit(route: RouteLimits | RouteLimit): route is RouteLimit {
  return typeof route === 'object' && route !== null && ownNumbers(route);
}

const NUMBERS = ['limit', ...Object.keys(RATE.options)];
const NUMBERS_ELSEWHERE = ['per', 'concurrency', 'load', 'borrow', ...Object.keys(LIMIT_HINTS)];

/** Whether options have the numbers of a limit. */
export function ownNumbers(options: object): boolean {
  return NUMBERS.some((name) => name in options);
}

/** Whether a limit was meant that has its numbers under the names of another library. */
function hasForeignNumbers(route: RouteLimits): boolean {
  return isPlainObject(route) && !('limits' in route) && NUMBERS_ELSEWHERE.some((name) => name in route);
}

/** The options of the plugin for limits of routes: all but those of its own limit. */
export type RouteDefaults = Partial<Record<(typeof INHERITED)[number], unknown>>;

const INHERITED = [
  'key',
  'store',
  'trustedProxies',
  'addressHeader',
  'decodeNat64',
  'failure',
  'onEvent',
  'log',
  'time',
  'skip',
  'shadow',
  'fields',
  'retryJitter',
  'limitPreflight',
  'deadline',
  'maxQueued',
  'onDecision',
] as const;

/** Returns what limits of routes take from the options of a plugin. */
export function routeDefaults(options: object): RouteDefaults {
  const given = options as Readonly<Record<string, unknown>>;
  return Object.fromEntries(INHERITED.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])));
}

/** Which registration has made the limit of a route. */
const makers = new WeakMap<RouteLimit, RouteTable>();

/** The settings by which the requests of a route are decided. */
export type RouteSettings = FlowSettings<FastifyRequest, SettleArgs>;

/** What a {@link RouteTable} uses of its registration. */
interface RouteTableParts {
  readonly base: RouteSettings;
  readonly hook: Hook;
  /** Whether the registration's own limits apply to every route, regardless of its `config.rateLimit`. */
  readonly always: boolean;
  /** Whether the registration has no limits itself. */
  readonly isBare: boolean;
  /** For routes with a limit of their own. Undefined for a registration with a limiter. */
  readonly defaults: RouteDefaults | undefined;
}

/** The settings of routes for one registration of the plugin, computed once for each `config.rateLimit`. */
export class RouteTable {
  readonly #base: RouteSettings;
  readonly #hook: Hook;
  readonly #always: boolean;
  readonly #isBare: boolean;
  readonly #defaults: RouteDefaults | undefined;
  readonly #known = new WeakMap<RouteLimits | RouteLimit, readonly RouteSettings[] | null>();

  constructor({ base, hook, always, isBare, defaults }: RouteTableParts) {
    this.#isBare = isBare;
    this.#defaults = defaults;
    this.#base = base;
    this.#hook = hook;
    this.#always = always;
  }

  /**
   * Returns the settings by which a route's requests are decided at its hook, in order: those of a registration with
   * `always` that has the same hook, then those of the route. Returns `null` if the route's limits belong to another
   * registration, or if it names no limits and the registration has `always`.
   *
   * @throws {SluiceError} If an option of the route is wrong.
   */
  settingsOf(route: RouteLimits | RouteLimit): readonly RouteSettings[] | null {
    let settings = this.#known.get(route);
    if (settings === undefined) {
      // Where routes may define limits, the names of other libraries are errors of such a limit.
      const isOwn = hasOwnLimit(route) || (this.#defaults !== undefined && hasForeignNumbers(route));
      const own = isOwn ? this.#ownLimit(route as RouteLimit) : this.#checked(route);
      settings = own === null ? null : this.#inOrder(own, route.hook);
      this.#known.set(route, settings);
    }
    return settings;
  }

  /**
   * Rejects a route that was defined before this registration, if it names another hook or limits of another
   * registration. Such settings can only be applied while a route is being defined, so that the route would have no
   * limits.
   *
   * @throws {SluiceError} `ERR_OPTION` if its hook is not that of this registration, `ERR_UNKNOWN_LIMIT` if this
   * registration does not know its limits.
   */
  checkEarly(url: string | undefined, route: RouteLimits | RouteLimit, hook: Hook): void {
    const known = this.settingsOf(route) !== null;
    if (known && (route.hook ?? hook) === hook) return;
    throw new SluiceError(
      known ? 'ERR_OPTION' : 'ERR_UNKNOWN_LIMIT',
      `The route ${shownName(String(url))} was defined before rateLimit was registered, so its config.rateLimit can't name ${known ? 'another hook' : 'other limits'} than the registration has. Define the route after await app.register(rateLimit, …).`,
    );
  }

  #inOrder(own: RouteSettings, hook: Hook = this.#hook): readonly RouteSettings[] {
    return this.#always && hook === this.#hook ? [this.#base, own] : [own];
  }

  /** The first registration without a limiter that meets the route makes its limit. */
  #ownLimit(route: RouteLimit): RouteSettings | null {
    if (this.#defaults === undefined || makers.has(route)) return null;
    const { hook, ...limit } = route;
    if (hook !== undefined) checkedHook('config.rateLimit.hook', hook);
    const settings = flowSettings<FastifyRequest, SettleArgs>(
      { ...this.#defaults, ...limit } as RouteLimit,
      [],
      'config.rateLimit',
    );
    makers.set(route, this);
    return settings;
  }

  #checked(route: RouteLimits): RouteSettings | null {
    const base = this.#base;
    checkRouteOptions('config.rateLimit', route, ['hook']);
    const { limits = base.uses, cost, share, skip = base.skip, hook } = route;
    if (hook !== undefined) checkedHook('config.rateLimit.hook', hook);
    if (this.#isBare || (this.#always && limits === base.uses)) return null;
    // Malformed limits belong to no registration. `limitUses` throws an error for them.
    if (!areNamed(limits)) limitUses(base.limiter, limits);
    if (limits !== base.uses && !this.#hasAll(limits)) return null;
    if (this.#always) this.#rejectTwice(limits);
    const uses = limits.map((use) => withDefaults(use, limits === base.uses, { cost, share }));
    return { ...base, skip, ...limitUses(base.limiter, uses) };
  }

  #rejectTwice(limits: NonNullable<RouteLimits['limits']>): void {
    const own = this.#base.uses.map(({ limit }) => limit);
    const twice = limits.map(nameOf).find((name) => own.includes(name));
    if (twice === undefined) return;
    throw new SluiceError(
      'ERR_DUPLICATE_BUCKET',
      `names "${twice}", but a registration with \`always: true\` already decides it for every request. Remove it.`,
      { path: 'config.rateLimit.limits' },
    );
  }

  #hasAll(limits: NonNullable<RouteLimits['limits']>): boolean {
    const names = this.#base.limiter.limitNames;
    return limits.every((use) => names.includes(nameOf(use)));
  }
}

/**
 * Creates the error for a route whose `config.rateLimit` is not used: no registration knows its limits, or it names no
 * limits and all registrations have `always`.
 *
 * @returns {SluiceError} `ERR_UNKNOWN_LIMIT` or `ERR_OPTION`.
 */
export function unusedConfig(url: string, route: RouteLimits | RouteLimit, isBare: boolean): SluiceError {
  if (hasOwnLimit(route)) {
    return new SluiceError(
      'ERR_OPTION',
      `The route ${shownName(url)} has the numbers of a limit in its config.rateLimit, but rateLimit was registered with a limiter. Define the limit there, and name it: config: { rateLimit: { limits: ['Name'] } }.`,
    );
  }
  if (isBare) {
    return new SluiceError(
      'ERR_OPTION',
      `The route ${shownName(url)} has a config.rateLimit without a count and a period, but rateLimit was registered without limits. Write config: { rateLimit: { count: 100, period: '1m' } }, or register rateLimit with a limiter.`,
    );
  }
  if (route.limits === undefined) {
    return new SluiceError(
      'ERR_OPTION',
      `The route ${shownName(url)} has a config.rateLimit without limits, but a registration with \`always: true\` has the same limits on every route. Name the route's own limits, or remove config.rateLimit.`,
    );
  }
  return new SluiceError(
    'ERR_UNKNOWN_LIMIT',
    `The route ${shownName(url)} names limits that no single registered limiter has: ${listed(route.limits.map(nameOf))}. Check the names in its config.rateLimit.limits, and define all of them in one limiter.`,
  );
}

type NamedUse = string | LimitUse<FastifyRequest, SettleArgs>;

function areNamed(limits: readonly NamedUse[]): boolean {
  return (
    Array.isArray(limits) && limits.every((use: NamedUse | null) => use !== null && typeof nameOf(use) === 'string')
  );
}

function nameOf(use: NamedUse): string {
  return typeof use === 'string' ? use : use.limit;
}

/**
 * Applies the `cost` and the `share` of a route to a limit. They replace those of the plugin, but not those in the
 * route's `limits`.
 */
function withDefaults(
  use: NamedUse,
  isBase: boolean,
  { cost, share }: Pick<RouteLimits, 'cost' | 'share'>,
): LimitUse<FastifyRequest, SettleArgs> {
  const given = typeof use === 'string' ? { limit: use } : use;
  const replaces = (own: unknown, value: unknown): boolean => value !== undefined && (isBase || own === undefined);
  return {
    ...given,
    ...(replaces(given.cost, cost) && { cost }),
    ...(replaces(given.share, share) && { share }),
  };
}
