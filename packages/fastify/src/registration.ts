import type { FastifyContextConfig, FastifyRequest, RouteOptions } from 'fastify';
import type { Hook } from './hook.ts';
import {
  hasOwnLimit,
  RouteTable,
  type RouteDefaults,
  type RouteLimit,
  type RouteLimits,
  type RouteSettings,
} from './route-limits.ts';

export interface RegistrationParts {
  readonly base: RouteSettings;
  readonly hook: Hook;
  readonly global: boolean;
  readonly always: boolean;
  /** Whether the registration has no limits itself, but only options for those of routes. */
  readonly isBare: boolean;
  /** For routes with a limit of their own. Undefined for a registration with a limiter. */
  readonly defaults: RouteDefaults | undefined;
}

/** The key of a route's note in its `config`, where the hooks find it for a request. */
const NOTE = Symbol('@sluice/fastify');

interface RouteNote {
  readonly route: RouteOptions;
  /** The registrations that existed when the route was defined. */
  readonly metBy: Set<Registration>;
  /** The registration that decides the route's limits. */
  owner: Registration | undefined;
}

interface NotedConfig extends FastifyContextConfig {
  [NOTE]?: RouteNote;
}

/** Requests to routes without an owner, whose route limits the first registration that knows them has decided. */
const decided = new WeakSet<FastifyRequest>();

/** Routes whose `config.rateLimit` a registration uses. All registrations get the same object for a route. */
const used = new WeakSet<RouteOptions>();

const NOTHING: readonly RouteSettings[] = [];

/** One registration of the plugin. It determines which limits apply to a request at each hook. */
export class Registration {
  readonly base: RouteSettings;
  readonly hook: Hook;
  readonly isBare: boolean;
  readonly #always: boolean;
  readonly #global: boolean;
  readonly #baseAlone: readonly RouteSettings[];
  readonly #routes: RouteTable;
  /** The routes with a `config.rateLimit` that were defined after the registration. */
  readonly #met = new Map<RouteOptions, RouteLimits | RouteLimit>();

  constructor({ global, ...parts }: RegistrationParts) {
    const { base, hook, always, isBare } = parts;
    this.base = base;
    this.isBare = isBare;
    this.hook = hook;
    this.#always = always;
    this.#global = global;
    this.#baseAlone = [base];
    this.#routes = new RouteTable(parts);
  }

  /** Returns the settings to decide for a request at a hook, in order. */
  settingsAt(phase: Hook, request: FastifyRequest): readonly RouteSettings[] {
    const { config, url } = request.routeOptions;
    const route = config.rateLimit;
    if (route === undefined) return this.#always || this.#global ? this.#baseAlone : NOTHING;
    const own = this.#always && phase === this.hook ? this.#baseAlone : NOTHING;
    if (route === false) return own;
    const note = (config as NotedConfig)[NOTE];
    this.#checkEarly(url, route, note);
    return this.#ofRoute(phase, route, request, note?.owner) ?? own;
  }

  /**
   * Records a route that is being defined.
   *
   * @returns The hook in which the limits of the route are decided; `undefined` if it is the hook of the registration.
   * @throws {SluiceError} If an option of the route is wrong.
   */
  meet(route: RouteOptions): Hook | undefined {
    if (route.config?.rateLimit === undefined || route.config.rateLimit === false) return undefined;
    const limits = ownCopy(route, route.config.rateLimit);
    const settings = this.#routes.settingsOf(limits);
    this.#met.set(route, limits);
    const note = noteOf(route);
    note.metBy.add(this);
    if (settings === null) return undefined;
    used.add(route);
    // The owner is the first registration without `always`, otherwise the last one with it, so that limits with
    // `always` are decided before those of the route.
    if (note.owner === undefined || note.owner.#always) note.owner = this;
    return limits.hook === this.hook ? undefined : limits.hook;
  }

  /** Returns a route whose `config.rateLimit` is not used. Call it after all routes and registrations are defined. */
  unused(): readonly [RouteOptions, RouteLimits | RouteLimit] | undefined {
    return [...this.#met].find(([route]) => !used.has(route));
  }

  /** Rejects a route that would have no limits because it was defined before this registration. */
  #checkEarly(url: string | undefined, route: RouteLimits | RouteLimit, note: RouteNote | undefined): void {
    if (note?.metBy.has(this) === true || (this.#always && route.limits === undefined)) return;
    if (note?.owner !== undefined && route.limits !== undefined) return;
    this.#routes.checkEarly(url, route, this.hook);
  }

  #ofRoute(
    phase: Hook,
    route: RouteLimits | RouteLimit,
    request: FastifyRequest,
    owner: Registration | undefined,
  ): readonly RouteSettings[] | null {
    if ((route.hook ?? this.hook) !== phase) return null;
    const settings = this.#routes.settingsOf(route);
    if (settings === null || route.limits === undefined) return settings;
    if (owner !== undefined) return owner === this ? settings : null;
    if (decided.has(request)) return null;
    decided.add(request);
    return settings;
  }
}

/** Returns the note of a route. Routes may share one config object, so each gets a copy of it. */
function noteOf(route: RouteOptions): RouteNote {
  const config = route.config as NotedConfig;
  const known = config[NOTE];
  if (known?.route === route) return known;
  const note: RouteNote = { route, metBy: new Set(), owner: undefined };
  route.config = { ...config, [NOTE]: note } as NotedConfig;
  return note;
}

/** Copies of the limits of routes, by the limit as it was written and the route. */
const copies = new WeakMap<RouteLimit, Map<string, RouteLimit>>();

/**
 * Gives a route a copy of its own limit: routes may share one config object, and each of them counts by itself. The route
 * for HEAD that Fastify adds to one for GET counts with it.
 */
function ownCopy(route: RouteOptions, limits: RouteLimits | RouteLimit): RouteLimits | RouteLimit {
  if (!hasOwnLimit(limits)) return limits;
  const written = originals.get(limits) ?? limits;
  const ofRoutes = copies.get(written) ?? new Map<string, RouteLimit>();
  copies.set(written, ofRoutes);
  const name = `${route.method === 'HEAD' ? 'GET' : String(route.method)} ${route.url}`;
  const copy = ofRoutes.get(name) ?? { ...written };
  ofRoutes.set(name, copy);
  originals.set(copy, written);
  route.config = { ...route.config, rateLimit: copy };
  return copy;
}

/** What a copy was made of: several registrations meet a route. */
const originals = new WeakMap<RouteLimit, RouteLimit>();
