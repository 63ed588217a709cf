import type { SpendLimit } from '../processes/spend.mjs';

/** Refills in a second, and has short leases. */
export const QUICK: SpendLimit = { burst: 1000, count: 1000, period: '1s', overshoot: 0.1, onFailure: 'closed' };
/** Refills in ten seconds: after a fault of a few seconds, a forgotten debt would let more through. */
export const SLOW: SpendLimit = { burst: 1000, count: 100, period: '1s', overshoot: 0.1, onFailure: 'closed' };
/** Nothing comes back while a test runs. */
export const ONCE: SpendLimit = { burst: 1000, count: 1000, period: '86400s', overshoot: 0.1, onFailure: 'closed' };
