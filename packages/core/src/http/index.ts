/**
 * Parts for adapters of frameworks. An adapter converts its framework's request and response into an {@link Exchange},
 * calls {@link runFlow}, and sends the {@link Denial} that it returns.
 *
 * @module
 */
export { endIfBegun } from './node-response.ts';
export type { Exchange, ExchangeEnd } from './exchange.ts';
export { fieldKey } from './fields.ts';
export { errorOf, runFlow, type FlowOutcome } from './flow.ts';
export {
  checkRouteOptions,
  flowSettings,
  limitUses,
  type CheckedUse,
  type FlowOptions,
  type FlowSettings,
  type InlineLimit,
  type LimitUse,
  type MiddlewareOptions,
  type ResponseEnd,
  type SharedLimits,
} from './middleware-options.ts';
export { NodeExchange, sendDenial } from './node-exchange.ts';
export type { Denial } from './denial.ts';
export { RequestDecision } from './request-decision.ts';
