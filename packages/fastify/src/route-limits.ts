import { SluiceError } from '@sluice/core';
import { checkRouteOptions, limitUses, type FlowOptions, type FlowSettings, type LimitUse } from '@sluice/core/http';
import { listed, shownName } from '@sluice/core/kit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { checkedHook, type Hook } from './hook.ts';

/** What settle functions of Fastify routes are called with. */
export type SettleArgs = readonly [FastifyRequest, FastifyReply];

/** The `config.rateLimit` of a route: what holds there instead of the plugin's own options. */
export interface RouteLimits {
  /** Limits of the plugin's limiter that hold here instead of the plugin's, decided together. */
  readonly limits?: readonly (string | LimitUse<FastifyRequest, SettleArgs>)[] | undefined;
  /** What a request costs here at every limit that names no cost of its own. */
  readonly cost?: LimitUse<FastifyRequest>['cost'];
  /** Lets requests through uncounted for which it gives true. */
  readonly skip?: FlowOptions<FastifyRequest>['skip'];
  /** Where this route's limits are decided instead of at the plugin's hook. */
  readonly hook?: Hook | undefined;
}

/** What a plugin goes by at a route. */
export type RouteSettings = FlowSettings<FastifyRequest, SettleArgs>;

/** The routes that one registration of the plugin has met, with their settings worked out once. */
export class RouteTable {
  readonly #base: RouteSettings;
  readonly #always: boolean;
  readonly #known = new WeakMap<RouteLimits, RouteSettings | null>();

  /** @param always - Whether the registration's own limits apply to every route, whatever the route says. */
  constructor(base: RouteSettings, always: boolean) {
    this.#base = base;
    this.#always = always;
  }

  /**
   * The settings of a route; `null` when its limits are another registration's, or when it has none and the
   * registration's own do not change with it.
   *
   * @throws {SluiceError} for wrong options.
   */
  settingsOf(route: RouteLimits): RouteSettings | null {
    let settings = this.#known.get(route);
    if (settings === undefined) {
      settings = this.#checked(route);
      this.#known.set(route, settings);
    }
    return settings;
  }

  /**
   * Refuses a route that was defined before this registration and asks for what had to be seen to then: it would be
   * open.
   *
   * @throws {SluiceError} `ERR_OPTION` for another hook than this registration's, `ERR_UNKNOWN_LIMIT` for limits that it
   * does not know.
   */
  checkEarly(url: string | undefined, route: RouteLimits, hook: Hook): void {
    const known = this.settingsOf(route) !== null;
    if (known && (route.hook ?? hook) === hook) return;
    throw new SluiceError(
      known ? 'ERR_OPTION' : 'ERR_UNKNOWN_LIMIT',
      `The route ${shownName(String(url))} was defined before rateLimit was registered, so its config.rateLimit can't name ${known ? 'another hook' : 'other limits'} than the registration has. Define the route after await app.register(rateLimit, …).`,
    );
  }

  #checked(route: RouteLimits): RouteSettings | null {
    const base = this.#base;
    checkRouteOptions('config.rateLimit', route, ['hook']);
    const { limits = base.uses, cost, skip = base.skip, hook } = route;
    if (hook !== undefined) checkedHook('config.rateLimit.hook', hook);
    if (this.#always && limits === base.uses) return null;
    // Malformed ones are nobody's: here they throw.
    if (!areNamed(limits)) limitUses(base.limiter, limits);
    if (limits !== base.uses && !this.#hasAll(limits)) return null;
    if (this.#always) this.#refuseTwice(limits);
    const uses = limits.map((use) => withCost(use, limits === base.uses, cost));
    return { ...base, skip, uses: limitUses(base.limiter, uses) };
  }

  #refuseTwice(limits: NonNullable<RouteLimits['limits']>): void {
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
 * Reports a route whose `config.rateLimit` no registration uses: no one knows its limits, or it has none and all
 * registrations there have `always`.
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

/** A limit of a route: the route's cost replaces the plugin's, but not one that the route itself gives. */
function withCost(use: Use, isBase: boolean, cost: RouteLimits['cost']): LimitUse<FastifyRequest, SettleArgs> {
  const given = typeof use === 'string' ? { limit: use } : use;
  if (cost === undefined || (!isBase && given.cost !== undefined)) return given;
  return { ...given, cost };
}
