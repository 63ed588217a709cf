/**
 * Rate limits for Fastify 5: the plugin {@link rateLimit} and the handler {@link limitsStatus}.
 *
 * @module
 */
import { SluiceError } from '@sluice/core';
import type { FastifyPluginCallback } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { plugin, type RateLimitOptions } from './plugin.ts';

export type { Hook } from './hook.ts';
export type { OnDenied, RateLimitOptions, RoutesOnly } from './plugin.ts';
export { limitsStatus, type StatusHandler } from './limits-status.ts';
export type { RouteLimit, RouteLimits } from './route-limits.ts';

/**
 * A plugin that limits the requests of its instance and of the instances below, 404s included: by one limit of its own,
 * or by limits of a shared limiter, which are decided together. A route can have other limits in its
 * `config.rateLimit`.
 *
 *     await app.register(rateLimit, { count: 100, period: '1m' });
 *     app.post('/orders', { config: { rateLimit: { limits: ['OrdersPerAccount'], cost: 10 } } }, createOrder);
 *
 * The decision is then in `request.rateLimit`. Errors of key, cost, `skip` and `onDenied` functions go to Fastify's
 * error handler; errors of `settle` and `onDecision` are reported as the event `callback-failed` of the limiter.
 *
 * Registering fails with a `SluiceError` if an option is wrong. The message names the option, the demand, the value and
 * the remedy.
 */
export const rateLimit: FastifyPluginCallback<RateLimitOptions> = fastifyPlugin(register, {
  fastify: '5.x',
  name: '@sluice/fastify',
});

/**
 * Passes errors to `done`. Fastify does not catch what a plugin with a callback throws: registering would fail after
 * ten seconds, without the reason.
 */
function register(...[instance, options, done]: Parameters<FastifyPluginCallback<RateLimitOptions>>): void {
  if (typeof (done as unknown) !== 'function') throw calledAsFunction();
  let problem: Error | undefined;
  try {
    plugin(instance, options, (error) => (problem = error));
  } catch (error) {
    problem = error as Error;
  }
  done(problem);
}

/** In other frameworks it is called. */
function calledAsFunction(): SluiceError {
  return new SluiceError(
    'ERR_OPTION',
    '`rateLimit` must be registered, but was called. It is a plugin: await app.register(rateLimit, { … }).',
  );
}
