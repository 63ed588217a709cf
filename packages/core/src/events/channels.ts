import { channel, type Channel } from 'node:diagnostics_channel';

/**
 * The diagnostics channel `sluice:decision`: a `DecisionMessage` for every decision that a limiter makes by
 * `spend` or in a middleware. Nothing is built or timed while nobody subscribes.
 */
export const decisionChannel: Channel = channel('sluice:decision');

/** The diagnostics channel `sluice:store`: a `StoreMessage` when an outage of a store begins, and when it ends. */
export const storeChannel: Channel = channel('sluice:store');
