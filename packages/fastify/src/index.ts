/**
 * Rate limits for Fastify 5.
 *
 * @module
 */
import type { FastifyPluginCallback } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { plugin, type RateLimitOptions } from './plugin.ts';

export type { Hook } from './hook.ts';
export type { OnDenied, RateLimitOptions } from './plugin.ts';
export type { RouteLimits } from './route-limits.ts';

/**
 * Limits the requests of the instance that it is registered on and of those below it, 404s too: by one limit of its
 * own, or by limits of a shared limiter, decided together. A route says otherwise in its `config.rateLimit`.
 *
 *     await app.register(rateLimit, { count: 100, period: '1m' });
 *     app.post('/orders', { config: { rateLimit: { limits: ['OrdersPerAccount'], cost: 10 } } }, createOrder);
 *
 * The decision is on `request.rateLimit` afterwards. What your own functions throw goes to Fastify's error handler.
 *
 * Registering fails with a `SluiceError` for wrong options, with the option, what it must be, what it was and what to
 * write instead.
 */
export const rateLimit: FastifyPluginCallback<RateLimitOptions> = fastifyPlugin(register, {
  fastify: '5.x',
  name: '@sluice/fastify',
});

/** What a plugin with a callback throws is caught by nobody: registering would fail after ten seconds, with no reason. */
function register(...[instance, options, done]: Parameters<FastifyPluginCallback<RateLimitOptions>>): void {
  let problem: Error | undefined;
  try {
    plugin(instance, options, (error) => (problem = error));
  } catch (error) {
    problem = error as Error;
  }
  done(problem);
}
