import type { Clock } from '../time/clock.ts';
import { complaint } from '../checks/errors.ts';

/**
 * A clock that moves only when a test moves it, so that tests need not sleep and times are exact.
 *
 * It counts whole microseconds, like all clocks of Sluice; milliseconds are rounded to them.
 *
 * @example
 * const clock = new FakeClock(0);
 * const limiter = createLimiter({ limits, store: memoryStore({ clock }) });
 * const { retryAfterMs } = await limiter.spend([{ limit: 'Orders', id: '12345678', cost: 1 }]);
 * clock.advance(retryAfterMs); // now the same request passes, and not a microsecond sooner
 */
export class FakeClock implements Clock {
  #micros: number;

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

  nowMicros(): number {
    return this.#micros;
  }

  /**
   * Moves the time forward.
   *
   * @param ms - Milliseconds, at least 0. To move it back, use `set`.
   * @throws {SluiceError} `ERR_OPTION` when it is negative or not a finite number, or when microseconds would not be
   * exact.
   */
  advance(ms: number): void {
    if (ms < 0) {
      const remedy = 'For a clock that steps back use clock.set(clock.nowMs - …).';
      throw complaint('ERR_OPTION', { option: 'advance(ms)', demand: 'a number from 0 up', value: ms, remedy });
    }
    this.#micros = exact('advance(ms)', this.#micros + microsOf('advance(ms)', ms), ms);
  }

  /**
   * Sets the time, forward or back.
   *
   * @param ms - Milliseconds since the clock's origin.
   * @throws {SluiceError} `ERR_OPTION` when it is not a finite number, or so large that microseconds are not exact.
   */
  set(ms: number): void {
    this.#micros = microsOf('set(ms)', ms);
  }
}

function microsOf(option: string, ms: number): number {
  return exact(option, typeof ms === 'number' ? Math.round(ms * 1000) : NaN, ms);
}

function exact(option: string, micros: number, ms: unknown): number {
  if (Number.isSafeInteger(micros)) return micros;
  throw complaint('ERR_OPTION', { option, demand: 'a number of milliseconds, at most 285 years from 0', value: ms });
}
