import { shownName } from '@sluice/core/kit';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { subscribe } from 'node:diagnostics_channel';
import { ownNumbers } from './route-limits.ts';

/**
 * The instances on which the plugin is registered. It limits their routes, and those of the instances below. All copies of
 * this package in a process share them, and only the first one warns.
 */
const REGISTERED = Symbol.for('@sluice/fastify: registered');
const shared = globalThis as { [REGISTERED]?: WeakSet<object> };
const isFirst = shared[REGISTERED] === undefined;
const registered = (shared[REGISTERED] ??= new WeakSet());

/** Notes that the plugin is registered on an instance. */
export function noteRegistration(instance: FastifyInstance): void {
  registered.add(instance);
}

interface Seen {
  readonly url: string;
  readonly instance: object;
}

// An application that imports this package and forgets to register the plugin, or registers it where the route is not,
// would have no limits, and nothing of the plugin runs there. Fastify announces each application on this channel.
if (isFirst) {
  subscribe('fastify.initialization', (message) => watch((message as { readonly fastify: FastifyInstance }).fastify));
}

/** Warns, when an application is ready, of routes whose limits nothing decides. */
function watch(app: FastifyInstance): void {
  const seen: Seen[] = [];
  app.addHook('onRoute', function noteRoute(route) {
    if (isMeantForUs(route)) seen.push({ url: route.url, instance: this });
  });
  app.addHook('onReady', (ready) => {
    const unlimited = seen.find(({ instance }) => !isLimited(instance));
    if (unlimited !== undefined) process.emitWarning(warningOf(unlimited), { type: 'SluiceWarning' });
    ready();
  });
}

/** Instances inherit from those above them. */
function isLimited(instance: object): boolean {
  for (let at: object | null = instance; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    if (registered.has(at)) return true;
  }
  return false;
}

/** Other plugins read `config.rateLimit`, too: theirs has `max`. */
function isMeantForUs({ config, method }: RouteOptions): boolean {
  const limits = config?.rateLimit;
  if (typeof limits !== 'object' || limits === null || method === 'HEAD') return false;
  return 'limits' in limits || ownNumbers(limits);
}

function warningOf({ url }: Seen): string {
  return (
    `The route ${shownName(url)} has a config.rateLimit, but rateLimit of @sluice/fastify is not registered where it is defined, so it has no limits. ` +
    'Register it before the route: await app.register(rateLimit, { global: false }).'
  );
}
