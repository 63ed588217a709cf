import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Awaitable } from '@sluice/core';
import { flowSettings } from '@sluice/core/http';
import { admit, CONTEXT_OPTIONS, type RateLimitOptions, type SettleArgs } from './admission.ts';
import { checkedContexts } from './contexts.ts';

/** Decides requests by the limits of their handlers. */
export interface HandlerAdmission {
  /** Returns true when the request may continue; throws otherwise. */
  admit(context: ExecutionContext): Awaitable<true>;
}

/** The token of what `RateLimitModule` provides for its guard. Nest shows its name where the module is missing. */
export const HANDLER_ADMISSION: symbol = Symbol('RateLimitModule.forRoot(…) of @sluice/nestjs');

/**
 * The guard of `RateLimitModule`: it limits the handlers that it guards by the limits of the module, and by those of
 * `@Limits`. Guards run in their order: put it after an authentication that the key of a limit reads.
 *
 *     providers: [{ provide: APP_GUARD, useExisting: RateLimitGuard }]
 *     @UseGuards(RateLimitGuard)
 */
export class RateLimitGuard implements CanActivate {
  readonly #admission: HandlerAdmission;

  /** @param admission - What the module provides. */
  constructor(admission: HandlerAdmission) {
    this.#admission = admission;
  }

  /** Returns true when the request may continue; throws a `RateLimitException` when it is denied. */
  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    return this.#admission.admit(context);
  }
}

Injectable()(RateLimitGuard);
Inject(HANDLER_ADMISSION)(RateLimitGuard, undefined, 0);

/**
 * Creates a guard with limits of its own, without the module: one limit by its numbers, or limits of a shared limiter. All
 * limits of one guard are decided together: a request takes tokens from all of them or from none.
 *
 *     @UseGuards(rateLimit({ count: 10, period: '1m' }))
 *     app.useGlobalGuards(rateLimit({ limiter, limits: ['RequestsPerClient'] }));
 *
 * It does not read `@Limits` and `@Unlimited`. Without `RateLimitModule`, Nest sends the problem details of a denied request
 * as JSON; with `app.useGlobalFilters(new RateLimitFilter())` they have their media type.
 *
 * The decision is then in `request.rateLimit`. Errors of key, cost, `skip` and `onDenied` functions go to Nest's exception
 * filters; errors of `settle` and `onDecision` are reported as the event `callback-failed` of the limiter.
 *
 * @throws {SluiceError} If an option is wrong. The message names the option, the demand, the value and the remedy.
 */
export function rateLimit<Name extends string = string>(options: RateLimitOptions<Name>): CanActivate {
  const settings = flowSettings<ExecutionContext, SettleArgs>(options, CONTEXT_OPTIONS);
  const admission = { contexts: checkedContexts(options.contexts), onDenied: options.onDenied };
  return { canActivate: (context) => admit(admission, settings, context) };
}
