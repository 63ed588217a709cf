import { TICKS_PER_MS } from '@sluice/core/store';
import type { Channel } from './channel.ts';
import type { ScriptCall } from './line.ts';

/** One call on its way, on which it may meet several servers. All ticks are of the process's own clock. */
export class Trip {
  readonly call: ScriptCall;
  readonly startTicks: number;
  /** How long there is from then on. */
  readonly leftMs: number;
  readonly endTicks: number;
  /** Where it was sent last. */
  channel: Channel | undefined;

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
