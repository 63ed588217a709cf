/** The yardstick: GCRA in ten lines on a Map. It never forgets an id, and tells nothing but yes or no. */
/** @type {import('./decider.ts').Contender} */
export const bareMap = {
  answersAtOnce: true,
  bounded: false,
  decider: ({ rate, limits }) => ({
    decide: limits === 1 ? gcra(rate) : allOf(Array.from({ length: limits }, () => rate)),
    allowed: (answer) => answer,
  }),
};

/**
 * @param {import('./decider.ts').Rate} rate
 * @returns {(id: string) => boolean}
 */
function gcra({ burst, intervalMs }) {
  const tats = new Map();
  const toleranceMs = burst * intervalMs;
  return (id) => {
    const nowMs = performance.now();
    const tat = Math.max(tats.get(id) ?? 0, nowMs) + intervalMs;
    if (tat - nowMs > toleranceMs) return false;
    tats.set(id, tat);
    return true;
  };
}

/**
 * The same for several limits, of which all take or none.
 *
 * @param {readonly import('./decider.ts').Rate[]} rates
 * @returns {(id: string) => boolean}
 */
function allOf(rates) {
  const limits = rates.map(({ burst, intervalMs }) => ({
    tats: new Map(),
    intervalMs,
    toleranceMs: burst * intervalMs,
  }));
  return (id) => {
    const nowMs = performance.now();
    for (const { tats, intervalMs, toleranceMs } of limits) {
      if (Math.max(tats.get(id) ?? 0, nowMs) + intervalMs - nowMs > toleranceMs) return false;
    }
    for (const { tats, intervalMs } of limits) tats.set(id, Math.max(tats.get(id) ?? 0, nowMs) + intervalMs);
    return true;
  };
}
