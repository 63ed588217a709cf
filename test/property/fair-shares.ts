/** What became of a call in its queue. Times are whole milliseconds. */
export interface QueuedCallHistory {
  /** The calls that wait for the same limits. */
  readonly lane: string;
  readonly priority: number;
  readonly fair: string;
  readonly cost: number;
  readonly cameMs: number;
  /** When it waits at the highest priority from then on. */
  readonly urgentMs: number;
  /** When it has left, and whether that was to begin. */
  readonly leftMs: number;
  readonly begins: boolean;
  /** The order in which calls came and left. */
  readonly came: number;
  readonly left: number;
}

interface Key {
  waiting: number;
  /** The largest cost of its calls. */
  most: number;
  emptySinceMs: number;
  /** By key: by how much it was served more than this one, at most, in any time up to now in which this one's calls waited. */
  readonly behind: Map<string, number>;
}

interface Step {
  readonly atMs: number;
  readonly order: number;
  readonly take: () => void;
}

/** A key that has no call for so long starts anew. */
const FORGOTTEN_MS = 1000;

/**
 * Returns by how much a key was served more than another one whose calls waited for the same limits with the same priority, at
 * most, in any time. It is a part of the largest cost of both together: up to 1, no call waits for more than the share of its
 * key and one call of each key.
 */
export function worstUnfairness(calls: readonly QueuedCallHistory[]): number {
  const queues = new Map<string, Map<string, Key>>();
  let worst = 0;

  const keyOf = ({ lane, fair }: QueuedCallHistory, priority: number): readonly [Map<string, Key>, Key] => {
    const name = `${lane} ${priority}`;
    const keys = queues.get(name) ?? new Map<string, Key>();
    const key = keys.get(fair) ?? { waiting: 0, most: 0, emptySinceMs: -Infinity, behind: new Map() };
    queues.set(name, keys.set(fair, key));
    return [keys, key];
  };
  const arrives = (call: QueuedCallHistory, priority: number, atMs: number): void => {
    const [keys, key] = keyOf(call, priority);
    key.most = Math.max(key.most, call.cost);
    if (key.waiting++ === 0 && atMs - key.emptySinceMs >= FORGOTTEN_MS)
      for (const other of keys.values()) other.behind.delete(call.fair);
  };
  const leaves = (call: QueuedCallHistory, priority: number, atMs: number): void => {
    const [, key] = keyOf(call, priority);
    if (--key.waiting > 0) return;
    key.emptySinceMs = atMs;
    key.behind.clear();
  };
  const begins = (call: QueuedCallHistory, priority: number, atMs: number): void => {
    const [keys, served] = keyOf(call, priority);
    for (const [other, behind] of served.behind) served.behind.set(other, Math.max(0, behind - call.cost));
    for (const key of keys.values()) {
      if (key === served || key.waiting === 0) continue;
      const behind = (key.behind.get(call.fair) ?? 0) + call.cost;
      key.behind.set(call.fair, behind);
      worst = Math.max(worst, behind / (key.most + served.most));
    }
    leaves(call, priority, atMs);
  };

  const steps = calls.flatMap((call): readonly Step[] => {
    const { cameMs, leftMs, urgentMs, came, left, priority } = call;
    const isUrgent = urgentMs <= leftMs && priority < 10;
    const last = isUrgent ? 10 : priority;
    const urgent = (): void => {
      leaves(call, priority, urgentMs);
      arrives(call, 10, urgentMs);
    };
    return [
      { atMs: cameMs, order: came, take: () => arrives(call, priority, cameMs) },
      ...(isUrgent ? [{ atMs: urgentMs, order: -2, take: urgent }] : []),
      call.begins
        ? { atMs: leftMs, order: left, take: () => begins(call, last, leftMs) }
        : { atMs: leftMs, order: leftMs === cameMs ? left : -1, take: () => leaves(call, last, leftMs) },
    ];
  });
  for (const { take } of steps.toSorted((one, other) => one.atMs - other.atMs || one.order - other.order)) take();
  return worst;
}
