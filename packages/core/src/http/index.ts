/**
 * Parts for adapters of frameworks. An adapter converts its framework's request and response into an {@link Exchange},
 * calls {@link runFlow}, and sends the {@link Denial} that it returns.
 *
 * @module
 */
export { grpcTimeoutMs, type CallerDeadline, type HeaderDeadline } from './caller-deadline.ts';
export { clientAddressFinder, type ClientAddressFinder } from '../client/client-address.ts';
export { trustedProxies, type Peer, type TrustedProxies } from '../client/trusted-proxies.ts';
export { endIfBegun } from './node-response.ts';
export type { Exchange, ExchangeEnd } from './exchange.ts';
export { mayLackFields } from './lacking-fields.ts';
export { openSessions } from './open-sessions.ts';
export { errorOf, runFlow, type FlowOutcome } from './flow.ts';
export {
  checkRouteOptions,
  flowSettings,
  type FlowOptions,
  type FlowSettings,
  type InlineOfKind,
  type InlineRate,
  type InlineLimit,
  type InlineSettings,
  type MiddlewareOptions,
  type SharedLimits,
} from './middleware-options.ts';
export { limitUses, type CheckedUse, type LimitUse, type ResponseEnd } from './limit-uses.ts';
export { NodeExchange, NodeRequestExchange, peerOf, sendDenial } from './node-exchange.ts';
export { violatedPolicies, type Answer, type Denial } from './denial.ts';
export { limitsStatusOf, statusSettings, type LimitsStatusOptions, type StatusSettings } from './limits-status.ts';
export { expectSettlement } from '../decision/decided.ts';
export { RequestDecision } from './request-decision.ts';
export { responseTo, type DecisionResponse, type ResponseOptions } from './response-to.ts';
export type { SlotOptions, SlotsUntil } from './slots-until.ts';
