/** How many processes share the limits: what each may let through by itself while Redis can't answer follows from it. */
export const PROCESSES = Number(process.env.PROCESSES ?? 4);

/** Whether the processes decide by leases instead of a call of Redis for each decision: `LEASED=1 node server.js`. */
export const LEASED = process.env.LEASED === '1';

/** The numbers of the limit. Only processes with leases use the overshoot. */
export const NUMBERS = /** @type {const} */ ({ burst: 100, count: 10, period: '1s', overshoot: 0.2 });
