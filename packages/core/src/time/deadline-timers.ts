import type { DeadlineQueue, Wait } from './deadline-queue.ts';
import type { Alarm, Cancel, Time } from './time.ts';

/** The timers of waits that are all equally long. */
export interface DeadlineTimers {
  /** Called when a wait was added to the queue. */
  began(wait: Wait, nowMicros: number): void;
  /** Called when a wait was removed from the queue before its deadline, or was not in it. */
  ended(wait: Wait): void;
  /** Called when the queue was emptied. */
  cancel(): void;
}

/** What the timers work on. */
export interface DeadlineTimersParts {
  readonly deadlineMs: number;
  readonly time: Time;
  readonly waiting: DeadlineQueue;
  /** Removes a wait from the queue, and reports that it has missed its deadline. */
  readonly miss: (wait: Wait) => void;
}

/**
 * One timer for all waits. They are due in the order in which they began, and a timer for the oldest is enough. While there
 * is no wait, the timer does not keep the process alive; it is left to expire, because setting and clearing a timer for each
 * call would cost more than everything else here.
 */
export class SharedTimer implements DeadlineTimers {
  readonly #deadlineMs: number;
  readonly #time: Time;
  readonly #waiting: DeadlineQueue;
  readonly #miss: (wait: Wait) => void;
  #alarm: Alarm | undefined;
  #alarmMicros = 0;
  #cancelSweep: Cancel | undefined;

  constructor({ deadlineMs, time, waiting, miss }: DeadlineTimersParts) {
    this.#deadlineMs = deadlineMs;
    this.#time = time;
    this.#waiting = waiting;
    this.#miss = miss;
  }

  began(_wait: Wait, nowMicros: number): void {
    if (this.#waiting.size === 1) this.#wake(nowMicros);
  }

  ended(): void {
    if (this.#waiting.size === 0) this.#rest();
  }

  cancel(): void {
    this.#rest();
    this.#alarm?.cancel();
    this.#alarm = undefined;
  }

  // An overdue alarm is replaced: the fake timers of a test may have removed it, and it would never fire.
  #wake(nowMicros: number): void {
    if (this.#alarm !== undefined && nowMicros < this.#alarmMicros) this.#alarm.ref();
    else if (this.#cancelSweep === undefined) this.#arm(this.#deadlineMs);
  }

  #rest(): void {
    this.#alarm?.unref();
    this.#cancelSweep?.();
    this.#cancelSweep = undefined;
  }

  #arm(delayMs: number): void {
    this.#alarm?.cancel();
    this.#alarmMicros = this.#time.nowMicros() + delayMs * 1000;
    this.#alarm = this.#time.alarm(delayMs, () => this.#rang());
  }

  #rang(): void {
    this.#alarm = undefined;
    if (this.#waiting.size === 0) return;
    const nowMicros = this.#time.nowMicros();
    this.#cancelSweep = this.#time.endOfTurn(() => this.#sweep(nowMicros));
  }

  // Expires only what was due when the timer fired. A promise that became due while input was processed gets its own
  // grace.
  #sweep(firedMicros: number): void {
    try {
      for (let wait = this.#waiting.oldest; wait !== undefined; wait = this.#waiting.oldest) {
        if (wait.dueMicros > firedMicros) break;
        this.#miss(wait);
      }
    } finally {
      this.#cancelSweep = undefined;
      // The alarm was for a wait that has ended since, or it fired a fraction of a millisecond early.
      const next = this.#waiting.oldest;
      if (next !== undefined) this.#arm(Math.max(1, Math.ceil((next.dueMicros - this.#time.nowMicros()) / 1000)));
    }
  }
}

/** A wait that is so long overdue is that of a request that has ended: no deadline and no stall is as long. */
const FORGOTTEN_MICROS = 60_000_000;

/** A timer for each wait, where timers end with the request that set them. See {@link Time.timersEndWithRequest}. */
export class OwnTimers implements DeadlineTimers {
  readonly #deadlineMs: number;
  readonly #time: Time;
  readonly #waiting: DeadlineQueue;
  readonly #miss: (wait: Wait) => void;
  readonly #cancels = new Map<Wait, Cancel>();

  constructor({ deadlineMs, time, waiting, miss }: DeadlineTimersParts) {
    this.#deadlineMs = deadlineMs;
    this.#time = time;
    this.#waiting = waiting;
    this.#miss = miss;
  }

  began(wait: Wait, nowMicros: number): void {
    this.#forget(nowMicros - FORGOTTEN_MICROS);
    const { cancel } = this.#time.alarm(this.#deadlineMs, () =>
      this.#cancels.set(
        wait,
        this.#time.endOfTurn(() => {
          this.#cancels.delete(wait);
          this.#miss(wait);
        }),
      ),
    );
    this.#cancels.set(wait, cancel);
  }

  ended(wait: Wait): void {
    this.#cancels.get(wait)?.();
    this.#cancels.delete(wait);
  }

  cancel(): void {
    for (const cancel of this.#cancels.values()) cancel();
    this.#cancels.clear();
  }

  /** Drops the waits of requests that have ended before: nobody waits for their outcome, and none of their timers runs. */
  #forget(dueMicros: number): void {
    for (let wait = this.#waiting.oldest; wait !== undefined; wait = this.#waiting.oldest) {
      if (wait.dueMicros > dueMicros) return;
      this.#waiting.delete(wait);
      this.#cancels.delete(wait);
    }
  }
}
