import type { SpendEntry } from '../limiter/entry.ts';
import type { Work } from '../limiter/run-options.ts';
import type { AsyncContext } from './async-context.ts';
import type { Placed } from './heap.ts';
import type { Lane } from './lane.ts';
import { QueuedCall } from './queued-call.ts';
import type { ScheduleOptions } from './schedule-options.ts';

/**
 * - `waiting`: in its lane.
 * - `asked`: the store decides about it.
 * - `reserved`: its tokens are taken, and its turn comes within `ahead`.
 * - `begun`: it has left the scheduler, to work or for good.
 */
type CallState = 'waiting' | 'asked' | 'reserved' | 'begun';

/** The calls that wait for the same buckets. */
export type CallLane = Lane<ScheduledCall>;

/** What a call is made of. */
interface CallParts {
  readonly entries: readonly SpendEntry[];
  readonly work: Work<unknown>;
  readonly options: ScheduleOptions<unknown>;
  readonly fair: string;
  readonly priority: number;
  readonly lane: CallLane;
  readonly number: number;
  readonly cameMicros: number;
  readonly withinMicros: number;
}

/** A call that waits for its turn: one object for all that is known about it, because there may be many. */
export class ScheduledCall extends QueuedCall implements Placed {
  readonly entries: readonly SpendEntry[];
  readonly work: Work<unknown>;
  readonly options: ScheduleOptions<unknown>;
  readonly lane: CallLane;
  /** Until when it must begin. */
  readonly untilMicros: number;
  /** Half of its time. Below 0 when that has passed. */
  #halfMicros: number;
  place = -1;
  state: CallState = 'waiting';
  /** That of its caller, unless it began at once. */
  context: AsyncContext | undefined = undefined;
  resolve!: (value: unknown) => void;

  constructor(parts: CallParts) {
    super(parts);
    this.entries = parts.entries;
    this.work = parts.work;
    this.options = parts.options;
    this.lane = parts.lane;
    this.untilMicros = parts.cameMicros + parts.withinMicros;
    this.#halfMicros = Math.floor(parts.withinMicros / 2);
  }

  get keepsPlace(): boolean {
    return this.options.place !== undefined;
  }

  get cameMicros(): number {
    return this.untilMicros - 2 * Math.abs(this.#halfMicros);
  }

  /** Whether it has waited for half of its time. */
  get isUrgent(): boolean {
    return this.#halfMicros < 0;
  }

  /** When something happens to it next: it becomes urgent, or its time is over. A turn that is reserved comes within its time. */
  get dueMicros(): number {
    if (this.state === 'reserved') return Infinity;
    return this.untilMicros - Math.max(0, this.#halfMicros);
  }

  /** Half of its time has passed. */
  becomeUrgent(): void {
    this.#halfMicros = -this.#halfMicros;
  }

  /** The largest cost of its entries. One that is wrong is rejected when the call is decided. */
  get cost(): number {
    let most = 0;
    for (const entry of this.entries) {
      const cost = entry?.cost ?? 1;
      if (cost > most) most = cost;
    }
    return most;
  }

  /** Rejects its promise. The other function of the promise is not kept for this: it has 64 bytes. */
  reject(error: unknown): void {
    // oxlint-disable-next-line unicorn/no-thenable -- a rejected promise would cost more: Node looks whether it is handled
    this.resolve({ then: (_: unknown, reject: (error: unknown) => void) => reject(error) });
  }

  /** Whether it asks for at least as much of each bucket as another call of its lane: then it can't pass when that is denied. */
  asksNoLess({ entries }: ScheduledCall): boolean {
    if (this.entries === entries) return true;
    return entries.length === this.entries.length && entries.every((entry, i) => isNoLess(this.entries[i]!, entry));
  }
}

/** Whether a call comes before another one that waits for other buckets. */
export function comesFirst(one: ScheduledCall, other: ScheduledCall): boolean {
  return one.priority > other.priority || (one.priority === other.priority && one.number < other.number);
}

function isNoLess(one: SpendEntry, other: SpendEntry): boolean {
  const isAlike =
    one.limit === other.limit && one.id === other.id && one.mode === other.mode && one.share === other.share;
  return isAlike && (one.cost ?? 1) >= (other.cost ?? 1);
}
