import type { FastifyContextConfig, FastifyRequest, RouteOptions } from 'fastify';
import type { Hook } from './hook.ts';
import { RouteTable, type RouteLimits, type RouteSettings } from './route-limits.ts';

export interface RegistrationParts {
  readonly base: RouteSettings;
  readonly hook: Hook;
  readonly global: boolean;
  readonly always: boolean;
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
  readonly #always: boolean;
  readonly #global: boolean;
  readonly #baseAlone: readonly RouteSettings[];
  readonly #routes: RouteTable;
  /** The routes with a `config.rateLimit` that were defined after the registration. */
  readonly #met = new Map<RouteOptions, RouteLimits>();

  constructor({ base, hook, global, always }: RegistrationParts) {
    this.base = base;
    this.hook = hook;
    this.#always = always;
    this.#global = global;
    this.#baseAlone = [base];
    this.#routes = new RouteTable({ base, hook, always });
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
    const limits = route.config?.rateLimit;
    if (limits === undefined || limits === false) return undefined;
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
  unused(): readonly [RouteOptions, RouteLimits] | undefined {
    return [...this.#met].find(([route]) => !used.has(route));
  }

  /** Rejects a route that would have no limits because it was defined before this registration. */
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
