import { SluiceError } from '@sluice/core';
import { checkRouteOptions, limitUses, type FlowOptions, type FlowSettings, type LimitUse } from '@sluice/core/http';
import { listed, shownName } from '@sluice/core/kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { checkedHook, type Hook } from './hook.ts';

/** The first arguments of `settle` functions in Fastify. */
export type SettleArgs = readonly [FastifyRequest, FastifyReply];

/** The `config.rateLimit` of a route, which replaces options of the plugin for its requests. */
export interface RouteLimits {
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

/** The settings by which the requests of a route are decided. */
export type RouteSettings = FlowSettings<FastifyRequest, SettleArgs>;

/** What a {@link RouteTable} uses of its registration. */
interface RouteTableParts {
  readonly base: RouteSettings;
  readonly hook: Hook;
  /** Whether the registration's own limits apply to every route, regardless of its `config.rateLimit`. */
  readonly always: boolean;
}

/** The settings of routes for one registration of the plugin, computed once for each `config.rateLimit`. */
export class RouteTable {
  readonly #base: RouteSettings;
  readonly #hook: Hook;
  readonly #always: boolean;
  readonly #known = new WeakMap<RouteLimits, readonly RouteSettings[] | null>();

  constructor({ base, hook, always }: RouteTableParts) {
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
  settingsOf(route: RouteLimits): readonly RouteSettings[] | null {
    let settings = this.#known.get(route);
    if (settings === undefined) {
      const own = this.#checked(route);
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
  checkEarly(url: string | undefined, route: RouteLimits, hook: Hook): void {
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

  #checked(route: RouteLimits): RouteSettings | null {
    const base = this.#base;
    checkRouteOptions('config.rateLimit', route, ['hook']);
    const { limits = base.uses, cost, share, skip = base.skip, hook } = route;
    if (hook !== undefined) checkedHook('config.rateLimit.hook', hook);
    if (this.#always && limits === base.uses) return null;
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
      `\`config.rateLimit.limits\` names "${twice}", but a registration with \`always: true\` already decides it for every request. Remove it.`,
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
export function unusedConfig(url: string, route: RouteLimits): SluiceError {
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

type Use = string | LimitUse<FastifyRequest, SettleArgs>;

function areNamed(limits: readonly Use[]): boolean {
  return Array.isArray(limits) && limits.every((use: Use | null) => use !== null && typeof nameOf(use) === 'string');
}

function nameOf(use: Use): string {
  return typeof use === 'string' ? use : use.limit;
}

/**
 * Applies the `cost` and the `share` of a route to a limit. They replace those of the plugin, but not those in the
 * route's `limits`.
 */
function withDefaults(
  use: Use,
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
