import { TICKS_PER_MS } from '@sluice/core/kit';
import type { ScriptCall } from './line.ts';

/** The connection that a call was sent on. */
interface SentTo {
  readonly server: string;
  /** Notes that the call missed its deadline. */
  missed(): void;
}

/** One call on its way, on which it may meet several servers. All ticks are of the process's own clock. */
export class Trip {
  readonly call: ScriptCall;
  readonly startTicks: number;
  /** How long there is from then on. */
  readonly leftMs: number;
  readonly endTicks: number;
  /** Where it was sent last. */
  channel: SentTo | undefined;

  constructor(call: ScriptCall, startTicks: number) {
    this.call = call;
    this.startTicks = startTicks;
    this.leftMs = call.deadlineMs - (call.waitedMs ?? 0);
    this.endTicks = startTicks + Math.floor(this.leftMs * TICKS_PER_MS);
  }

  /** Whether less than half of its time has passed. */
  isEarly(nowTicks: number): boolean {
    return nowTicks - this.startTicks < this.endTicks - nowTicks;
  }
}
