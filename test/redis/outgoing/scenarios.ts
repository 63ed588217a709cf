import { PEERS, type PeerLimit } from '../../contract/outgoing/peer-servers.ts';

/** The limit of every peer. */
export const LIMIT: PeerLimit = { count: 60, windowMs: 10_000 };

/** How long a request takes, and its answer. */
export const WAY_MS = 20;

/** Our limit of the calls to a peer. */
interface OurLimit {
  readonly burst: number;
  readonly count: number;
  readonly period: `${number}ms`;
}

/**
 * Below that of each peer: in any window at most 6 + 48 calls begin, and those of the 40 ms before are still on their way.
 */
const BELOW: OurLimit = { burst: 6, count: 48, period: `${LIMIT.windowMs}ms` };
/** So far above it that only the fields of the peer tell it. */
const ABOVE: OurLimit = { burst: 10_000, count: 10_000, period: `${LIMIT.windowMs}ms` };

/** Calls of all processes to one server. */
export interface Scenario {
  readonly peer: string;
  /** Whether our limit is below that of the peer. */
  readonly isBelow: boolean;
  readonly limit: OurLimit;
  /** Of what it stores in Redis. */
  readonly prefix: string;
}

/** Every peer with each of our limits. */
export const SCENARIOS: readonly Scenario[] = [BELOW, ABOVE].flatMap((limit) =>
  Object.keys(PEERS).map((peer, i) => {
    const isBelow = limit === BELOW;
    return { peer, isBelow, limit, prefix: `${isBelow ? 'below' : 'above'}${i}:` };
  }),
);
