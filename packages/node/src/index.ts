/**
 * Rate limits for servers of `node:http`, `node:https` and `node:http2`: {@link limitNode} for requests,
 * {@link limitUpgrade} for upgrades such as WebSocket handshakes.
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
  type OnError,
} from './limit-node.ts';
export { limitUpgrade, type UpgradeListener, type UpgradeOptions } from './upgrade.ts';
