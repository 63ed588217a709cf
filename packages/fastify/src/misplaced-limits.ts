import { shownName } from '@sluice/core/kit';
import type { RouteOptions } from 'fastify';

/** Routes that were looked at. All registrations get the same object for a route. */
const seen = new WeakSet<RouteOptions>();

/**
 * Returns a warning for a route whose limits are where no registration looks for them: under `ratelimit` or `rate_limit`
 * in its `config`, or beside its `config`. Such a route would have other limits than it seems to have, or none.
 *
 * @returns `undefined` for a route without such a mistake, and for one that was looked at before.
 */
export function misplacedLimits(route: RouteOptions): string | undefined {
  // Fastify adds a route for HEAD to each one for GET.
  if (route.method === 'HEAD' || seen.has(route)) return undefined;
  seen.add(route);
  const inConfig = Object.keys(route.config ?? {}).find((name) => name !== NAME && meansLimits(name));
  const beside = Object.keys(route).find(meansLimits);
  const place = inConfig === undefined ? beside && shownName(beside) : `config.${shownName(inConfig)}`;
  if (place === undefined) return undefined;
  return `The route ${shownName(route.url)} has its limits as ${place}, where they have no effect. Write { config: { ${NAME}: … } }.`;
}

const NAME = 'rateLimit';

function meansLimits(name: string): boolean {
  return /^rate[-_]?limits?$/i.test(name);
}
