import { complaint } from '../checks/errors.ts';
import { afterInput } from '../time/system-time.ts';
import type { Alarm, Cancel, Time } from '../time/time.ts';

interface Timer {
  readonly dueMicros: number;
  readonly run: () => void;
  keepsAlive: boolean;
}

/**
 * A time that moves only when a test moves it, so that tests need not sleep and times are exact: the clock, the wall
 * clock, timers and the turns of the event loop.
 *
 * It counts whole microseconds, like all clocks of Sluice; milliseconds are rounded to them.
 *
 * @example
 * const time = new FakeTime();
 * const limiter = createLimiter({ limits, time });
 * const { retryAfterMs } = await limiter.spend([{ limit: 'Orders', id: '12345678', cost: 1 }]);
 * time.advance(retryAfterMs); // now the same request passes, and not a microsecond sooner
 */
export class FakeTime implements Time {
  #micros: number;
  /** The wall clock minus the clock. */
  #wallAheadMicros = 0;
  /** In the order in which they were set. */
  readonly #timers = new Set<Timer>();
  readonly #endsOfTurn = new Set<() => void>();

  /**
   * @param startMs - Milliseconds since any origin, also negative. Default: 0.
   * @throws {SluiceError} `ERR_OPTION` when it is not a finite number, or so large that microseconds are not exact.
   */
  constructor(startMs = 0) {
    this.#micros = microsOf('startMs', startMs);
  }

  /** The time in milliseconds, in steps of 0.001. */
  get nowMs(): number {
    return this.#micros / 1000;
  }

  /** The number of timers and callbacks that have not run yet and would keep a process alive. */
  get pending(): number {
    let timers = 0;
    for (const { keepsAlive } of this.#timers) if (keepsAlive) timers++;
    return timers + this.#endsOfTurn.size;
  }

  nowMicros(): number {
    return this.#micros;
  }

  /** The wall clock: `nowMs` in whole milliseconds, until {@link setWall} sets it. From there it moves along. */
  wallNow(): number {
    return Math.floor((this.#micros + this.#wallAheadMicros) / 1000);
  }

  alarm(delayMs: number, run: () => void): Alarm {
    // As in Node, at least 1 ms: a timer that sets itself again must not stop the time.
    const dueMicros = this.#micros + Math.ceil((delayMs >= 1 ? delayMs : 1) * 1000);
    const timer: Timer = { dueMicros, run, keepsAlive: true };
    this.#timers.add(timer);
    return {
      ref: () => void (timer.keepsAlive = true),
      unref: () => void (timer.keepsAlive = false),
      cancel: () => void this.#timers.delete(timer),
    };
  }

  endOfTurn(run: () => void): Cancel {
    // One function may be given twice.
    const callback = (): void => run();
    this.#endsOfTurn.add(callback);
    return () => void this.#endsOfTurn.delete(callback);
  }

  /**
   * Moves the time forward, and runs on the way the timers that become due, each at its own time, and the ends of their
   * turns. It returns when all of them have run; callbacks of promises run later, see {@link pass}.
   *
   * @param ms - Milliseconds, at least 0. To move the clock back, use `set`.
   * @throws {SluiceError} `ERR_OPTION` when it is negative or not a finite number, or when microseconds would not be
   * exact.
   */
  advance(ms: number): void {
    for (const runs of this.#turns('advance(ms)', ms)) for (const run of runs) run();
  }

  /**
   * Like {@link advance}, and between two callbacks the callbacks of promises run, as in the event loop of Node: for
   * code that awaits on the way, such as a loop of retries.
   *
   * @param ms - Milliseconds, at least 0.
   * @throws {SluiceError} Rejects with `ERR_OPTION` like `advance`.
   */
  async pass(ms: number): Promise<void> {
    for (const runs of this.#turns('pass(ms)', ms)) {
      for (const run of runs) {
        run();
        // oxlint-disable-next-line no-await-in-loop -- one after the other, like the event loop
        await realTurn();
      }
      // oxlint-disable-next-line no-await-in-loop -- one after the other, like the event loop
      await realTurn();
    }
  }

  /**
   * Sets the clock, forward or back, and moves the wall clock by as much. Nothing runs: what has become due runs at the
   * next `advance` or `pass`, as after a stall of the process.
   *
   * @param ms - Milliseconds since the clock's origin.
   * @throws {SluiceError} `ERR_OPTION` when it is not a finite number, or so large that microseconds are not exact.
   */
  set(ms: number): void {
    this.#micros = microsOf('set(ms)', ms);
  }

  /**
   * Sets the wall clock alone, forward or back, as an administrator or NTP does.
   *
   * @param msSince1970 - Milliseconds since 1970 (UTC), such as `Date.parse('2026-07-01T12:00:00Z')`.
   * @throws {SluiceError} `ERR_OPTION` when it is not a finite number, or so large that microseconds are not exact.
   */
  setWall(msSince1970: number): void {
    this.#wallAheadMicros = microsOf('setWall(msSince1970)', msSince1970) - this.#micros;
  }

  /** The turns of the event loop until a time has passed: for each, what runs in it. The last one has only its end. */
  *#turns(option: string, ms: number): Generator<Iterable<() => void>> {
    const endMicros = this.#end(option, ms);
    for (let due = this.#nextDue(); due <= endMicros; due = this.#nextDue()) {
      this.#micros = Math.max(this.#micros, due);
      yield this.#turn();
    }
    this.#micros = Math.max(this.#micros, endMicros);
    yield this.#turn();
  }

  /** Runs what is due, then the ends of the turn. A callback that another one cancels does not run. */
  *#turn(): Generator<() => void> {
    const due = [...this.#timers].filter(({ dueMicros }) => dueMicros <= this.#micros);
    for (const timer of due.toSorted((a, b) => a.dueMicros - b.dueMicros)) {
      if (this.#timers.delete(timer)) yield timer.run;
    }
    // A copy: what is added meanwhile belongs to the next turn.
    const ends = [...this.#endsOfTurn];
    for (const end of ends) if (this.#endsOfTurn.delete(end)) yield end;
  }

  #nextDue(): number {
    let next = Infinity;
    for (const { dueMicros } of this.#timers) next = Math.min(next, dueMicros);
    return next;
  }

  #end(option: string, ms: number): number {
    if (ms < 0) {
      const remedy = 'For a clock that steps back use time.set(time.nowMs - …).';
      throw complaint('ERR_OPTION', { option, demand: 'a number from 0 up', value: ms, remedy });
    }
    return exact(option, this.#micros + microsOf(option, ms), ms);
  }
}

function microsOf(option: string, ms: number): number {
  return exact(option, typeof ms === 'number' ? Math.round(ms * 1000) : NaN, ms);
}

function exact(option: string, micros: number, ms: unknown): number {
  if (Number.isSafeInteger(micros)) return micros;
  throw complaint('ERR_OPTION', { option, demand: 'a number of milliseconds, at most 285 years from 0', value: ms });
}

/** Waits for the promises of a test, which run in the real event loop, even while its timers are faked. */
function realTurn(): Promise<void> {
  return new Promise((resolve) => afterInput(resolve));
}
