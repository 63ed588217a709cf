import type { FastifyContextConfig, FastifyRequest, RouteOptions } from 'fastify';
import type { Hook } from './hook.ts';
import { RouteTable, type RouteLimits, type RouteSettings } from './route-limits.ts';

/** What a registration is made of, checked. */
export interface RegistrationParts {
  readonly base: RouteSettings;
  readonly hook: Hook;
  readonly global: boolean;
  readonly always: boolean;
}

/** What the registrations know of a route, kept in its config: a request leads there. */
const NOTE = Symbol('@sluice/fastify');

interface RouteNote {
  readonly route: RouteOptions;
  /** The registrations that were there when the route was defined. */
  readonly metBy: Set<Registration>;
  /** The one that decides the route's limits. */
  owner: Registration | undefined;
}

interface NotedConfig extends FastifyContextConfig {
  [NOTE]?: RouteNote;
}

/** Requests to a route without an owner whose limits were decided: by the first registration that knows them. */
const decided = new WeakSet<FastifyRequest>();

/** Routes whose `config.rateLimit` some registration uses. A route is one object for all of them. */
const used = new WeakSet<RouteOptions>();

const NOTHING: readonly RouteSettings[] = [];

/** One registration of the plugin: which limits a request meets at which hook. */
export class Registration {
  readonly base: RouteSettings;
  readonly hook: Hook;
  readonly #always: boolean;
  readonly #global: boolean;
  readonly #baseAlone: readonly RouteSettings[];
  readonly #routes: RouteTable;
  /** The routes with a `config.rateLimit` that were defined since. */
  readonly #met = new Map<RouteOptions, RouteLimits>();

  constructor({ base, hook, global, always }: RegistrationParts) {
    this.base = base;
    this.hook = hook;
    this.#always = always;
    this.#global = global;
    this.#baseAlone = [base];
    this.#routes = new RouteTable(base, always);
  }

  /** What is decided for a request at a hook, one after the other. */
  settingsAt(phase: Hook, request: FastifyRequest): readonly RouteSettings[] {
    const { config, url } = request.routeOptions;
    const route = config.rateLimit;
    if (route === undefined) return this.#always || this.#global ? this.#baseAlone : NOTHING;
    const own = this.#always && phase === this.hook ? this.#baseAlone : NOTHING;
    if (route === false) return own;
    const note = (config as NotedConfig)[NOTE];
    this.#checkEarly(url, route, note);
    const settings = this.#ofRoute(phase, route, request, note?.owner);
    return settings === null ? own : [...own, settings];
  }

  /**
   * Takes note of a route that is being defined.
   *
   * @returns The hook at which this registration decides its limits, where that is not the registration's own.
   * @throws {SluiceError} for wrong options of the route.
   */
  meet(route: RouteOptions): Hook | undefined {
    const limits = route.config?.rateLimit;
    if (limits === undefined || limits === false) return undefined;
    const settings = this.#routes.settingsOf(limits);
    this.#met.set(route, limits);
    const note = noteOf(route);
    note.metBy.add(this);
    if (settings === null) return undefined;
    used.add(route);
    // The first registration without `always`, else the last one with it: what always applies is decided before.
    if (note.owner === undefined || note.owner.#always) note.owner = this;
    return limits.hook === this.hook ? undefined : limits.hook;
  }

  /** A route whose `config.rateLimit` no registration uses, once all routes and registrations are there. */
  unused(): readonly [RouteOptions, RouteLimits] | undefined {
    return [...this.#met].find(([route]) => !used.has(route));
  }

  /** Refuses a route that would be open because it was defined before this registration. */
  #checkEarly(url: string | undefined, route: RouteLimits, note: RouteNote | undefined): void {
    if (note?.metBy.has(this) === true || (this.#always && route.limits === undefined)) return;
    if (note?.owner !== undefined && route.limits !== undefined) return;
    this.#routes.checkEarly(url, route, this.hook);
  }

  #ofRoute(
    phase: Hook,
    route: RouteLimits,
    request: FastifyRequest,
    owner: Registration | undefined,
  ): RouteSettings | null {
    if ((route.hook ?? this.hook) !== phase) return null;
    const settings = this.#routes.settingsOf(route);
    if (settings === null || route.limits === undefined) return settings;
    if (owner !== undefined) return owner === this ? settings : null;
    if (decided.has(request)) return null;
    decided.add(request);
    return settings;
  }
}

/** The note of a route. Routes may share one config, so each gets a copy. */
function noteOf(route: RouteOptions): RouteNote {
  const config = route.config as NotedConfig;
  const known = config[NOTE];
  if (known?.route === route) return known;
  const note: RouteNote = { route, metBy: new Set(), owner: undefined };
  route.config = { ...config, [NOTE]: note } as NotedConfig;
  return note;
}
