import { TICKS_PER_MS } from '@sluice/core/kit';
import type { ScriptCall } from './script-client.ts';

/** The connection that a call was sent on. */
interface SentTo {
  readonly server: string;
  /** Notes that the call missed its deadline. */
  missed(): void;
}

/**
 * One call with its deadline, which may be sent to several servers in turn. All ticks are of the process's own clock.
 */
export class Trip {
  readonly call: ScriptCall;
  readonly startTicks: number;
  /** The time from the start to the deadline, in milliseconds. */
  readonly leftMs: number;
  readonly endTicks: number;
  /** The channel to which the call was last sent. */
  channel: SentTo | undefined;

  constructor(call: ScriptCall, startTicks: number) {
    this.call = call;
    this.startTicks = startTicks;
    this.leftMs = call.deadlineMs - (call.waitedMs ?? 0);
    this.endTicks = startTicks + Math.floor(this.leftMs * TICKS_PER_MS);
  }

  /** Whether less than half of the time has passed. */
  isEarly(nowTicks: number): boolean {
    return nowTicks - this.startTicks < this.endTicks - nowTicks;
  }
}
