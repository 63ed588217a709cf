/** When one slot of an id was in use. */
export interface InUse {
  readonly id: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The most slots of one id that were in use at the same moment, from `fromMs` up to `toMs`. */
export function mostInUse(spans: readonly InUse[], fromMs = -Infinity, toMs = Infinity): number {
  const steps = spans
    .filter((span) => span.toMs > fromMs && span.fromMs < toMs)
    .flatMap(({ id, fromMs: from, toMs: to }) => [
      { id, atMs: from, change: 1 },
      { id, atMs: to, change: -1 },
    ])
    // What ends at a moment is not in use any more.
    .toSorted((a, b) => a.atMs - b.atMs || a.change - b.change);
  const counts = new Map<string, number>();
  let most = 0;
  for (const { id, atMs, change } of steps) {
    const count = (counts.get(id) ?? 0) + change;
    counts.set(id, count);
    if (atMs < toMs) most = Math.max(most, count);
  }
  return most;
}
