/**
 * The numbers of limits, and a limiter as users make it. If they move, only this file changes.
 *
 * @module
 */
import { calendarNamed } from '../../../packages/core/src/calendar/calendar.ts';
import { borrow } from '../../../packages/core/src/borrow.ts';
import { accountId, createLimiter, everyone } from '../../../packages/core/src/index.ts';
import { quota } from '../../../packages/core/src/quota.ts';

export { SluiceError } from '../../../packages/core/src/index.ts';
export { checkBounds } from '../../../packages/core/src/rule/at-most.ts';
export { rateOf, ticksOf } from '../../../packages/core/src/rule/rate.ts';
export { levelsFrom } from '../../../packages/core/src/limits/levels.ts';
export { SlotBucket } from '../../../packages/core/src/store/memory/slot-bucket.ts';
export { levelAfter, passes } from '../../../packages/core/src/store/transaction-rule.ts';

/** The figures of a decision. */
export interface Figures {
  readonly allowed: boolean;
  readonly remaining: number;
  readonly retryAfterMs: number;
  readonly resetAfterMs: number;
  readonly delayMs: number;
  /** One for each limit of the decision, in their order. */
  readonly results: readonly { readonly remaining: number; readonly periodMs: number }[];
}

type Options = Parameters<typeof createLimiter>[0]['limits'];

/** A limiter with a memory store, at a time that a theorem chooses. */
export class TimedLimiter {
  #micros = 0;
  #wallMs = Date.UTC(2026, 0, 1);
  readonly #limiter: ReturnType<typeof createLimiter>;

  constructor(limits: Readonly<Record<string, object>>) {
    forgetHours();
    const time = {
      nowMicros: (): number => this.#micros,
      wallNow: (): number => this.#wallMs,
      alarm: () => ({ ref: nothing, unref: nothing, cancel: nothing }),
      endOfTurn: () => nothing,
    };
    const keyed = Object.entries(limits).map(([name, numbers]) => [name, limitOf(name, numbers)]);
    this.#limiter = createLimiter({ limits: Object.fromEntries(keyed) as Options, time, log: false });
  }

  setTime(micros: number): void {
    this.#micros = micros;
  }

  /** Sets the clock of quotas, in milliseconds since 1970. */
  setWall(ms: number): void {
    this.#wallMs = ms;
  }

  spend(entries: readonly { readonly limit: string; readonly cost?: number }[]): Figures {
    return this.#limiter.spendSync(entries.map((entry) => ({ ...entry, id: 'one' })) as never);
  }
}

function limitOf(name: string, numbers: object): object {
  const limit = { key: name === 'Pool' ? everyone() : accountId(), ...numbers };
  if ('per' in limit) return quota(limit as never);
  return 'borrow' in limit ? borrow(limit as never) : limit;
}

/** Calendars are kept for the process, with their last period: that of another path must not be seen. */
export function forgetHours(): void {
  calendarNamed(HOURS).periodAt(NaN);
}

/** The name of the calendar of hours. */
export const HOURS = 'hour:0:0:UTC';

function nothing(): void {}
