import type { SpendEntry } from '../limiter/entry.ts';
import type { Leave } from '../limiter/queued-decisions.ts';
import type { RunOptions, Work } from '../limiter/run-options.ts';
import type { Trace } from '../runtime/call-site.ts';
import type { Placed } from './heap.ts';
import type { Lane } from './lane.ts';
import { QueuedCall } from './queued-call.ts';

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
  readonly options: RunOptions<unknown>;
  readonly fair: string;
  readonly priority: number;
  readonly cost: number;
  readonly lane: CallLane;
  readonly number: number;
  readonly nowMicros: number;
  readonly withinMicros: number;
  readonly trace: Trace | undefined;
  /** Called when its signal is aborted. */
  readonly aborted: (call: ScheduledCall) => void;
}

/** A call that waits for its turn: one object for all that is known about it, because there may be many. */
export class ScheduledCall extends QueuedCall implements Placed {
  readonly entries: readonly SpendEntry[];
  readonly work: Work<unknown>;
  readonly options: RunOptions<unknown>;
  readonly lane: CallLane;
  readonly cameMicros: number;
  /** Until when it must begin. */
  readonly untilMicros: number;
  /** When something happens to it next: it becomes urgent, or its time is over. */
  dueMicros: number;
  place = -1;
  state: CallState = 'waiting';
  /** Whether it has waited for half of its time. */
  isUrgent = false;
  /** Where the program asked for it, if its work holds something. */
  readonly trace: Trace | undefined;
  /** Gives its tokens back, while they are reserved. */
  leave: Leave | undefined = undefined;
  resolve!: (value: unknown) => void;
  reject!: (error: unknown) => void;
  readonly #aborted: (call: ScheduledCall) => void;

  constructor(parts: CallParts) {
    super(parts);
    this.entries = parts.entries;
    this.work = parts.work;
    this.options = parts.options;
    this.lane = parts.lane;
    this.cameMicros = parts.nowMicros;
    this.untilMicros = parts.nowMicros + parts.withinMicros;
    this.dueMicros = parts.nowMicros + Math.ceil(parts.withinMicros / 2);
    this.trace = parts.trace;
    this.#aborted = parts.aborted;
  }

  /** Receives the event of its signal, without a closure. */
  handleEvent(): void {
    this.#aborted(this);
  }

  /** Whether it asks for at least as much of each bucket as another call of its lane: then it can't pass when that is denied. */
  asksNoLess({ entries }: ScheduledCall): boolean {
    if (this.entries === entries) return true;
    return entries.length === this.entries.length && entries.every((entry, i) => isNoLess(this.entries[i]!, entry));
  }

  listen(): void {
    this.options.signal?.addEventListener('abort', this);
  }

  /** Leaves no listener on its signal. */
  end(): void {
    this.options.signal?.removeEventListener('abort', this);
    this.state = 'begun';
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
