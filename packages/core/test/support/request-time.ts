import type { Alarm, Cancel } from '../../src/time/time.ts';
import { CountedTime } from './counted-time.ts';

/** The time of a Worker: what a request has set ends with it. */
export class RequestTime extends CountedTime {
  readonly timersEndWithRequest = true;
  #ofRequest: Cancel[] = [];

  override alarm(delayMs: number, run: () => void): Alarm {
    const alarm = super.alarm(delayMs, run);
    this.#ofRequest.push(alarm.cancel);
    return alarm;
  }

  override endOfTurn(run: () => void): Cancel {
    const cancel = super.endOfTurn(run);
    this.#ofRequest.push(cancel);
    return cancel;
  }

  /** Ends the request that has set all that was set since the last call. */
  endRequest(): void {
    for (const cancel of this.#ofRequest.splice(0)) cancel();
  }

  /** Calls a function in a request, and ends it at once: its client has left. */
  left<T>(call: () => T): T {
    const others = this.#ofRequest.splice(0);
    const value = call();
    this.endRequest();
    this.#ofRequest.push(...others);
    return value;
  }
}
