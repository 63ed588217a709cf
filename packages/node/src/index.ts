/**
 * Rate limits for servers of `node:http`, `node:https` and `node:http2`: {@link limitNode} for requests,
 * {@link limitUpgrade} for upgrades such as WebSocket handshakes, {@link limitsStatus} for clients that ask what is left.
 *
 * @module
 */
export {
  limitNode,
  type LimitedListener,
  type LimitedRequest,
  type LimitListener,
  type LimitNodeOptions,
  type NodeRequest,
  type NodeResponse,
  type OnDenied,
} from './limit-node.ts';
export { limitsStatus, type StatusOptions } from './limits-status.ts';
export type { OnError } from './on-error.ts';
export { limitUpgrade, type UpgradeListener, type UpgradeOptions } from './upgrade.ts';
