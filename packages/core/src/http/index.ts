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
  type FlowOptions,
  type FlowSettings,
  type InlineLimit,
  type InlineSettings,
  type MiddlewareOptions,
  type SharedLimits,
} from './middleware-options.ts';
export { limitUses, type CheckedUse, type LimitUse, type ResponseEnd } from './limit-uses.ts';
export { NodeExchange, NodeRequestExchange, sendDenial } from './node-exchange.ts';
export type { Denial } from './denial.ts';
export { RequestDecision } from './request-decision.ts';
export type { SlotOptions, SlotsUntil } from './slots-until.ts';
