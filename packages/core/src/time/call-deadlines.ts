import { Deadlines } from './deadlines.ts';
import type { Time } from './time.ts';
import { complaint } from '../checks/errors.ts';

/** The maximum deadline, which is also that of a limiter. */
const MAX_DEADLINE_MS = 60_000;

/** Above this number of different deadlines, unused ones are dropped. Usually each limiter has one deadline. */
const MAX_LENGTHS = 32;

/** The deadlines of calls. All calls with the same deadline share one timer. */
export class CallDeadlines {
  readonly #time: Time;
  readonly #byLength = new Map<number, Deadlines>();

  constructor(time: Time) {
    this.#time = time;
  }

  /** Ends all that wait now, as if their deadlines had passed. */
  expireAll(): void {
    for (const deadlines of this.#byLength.values()) deadlines.expireAll();
  }

  /** Returns the list of those that wait for so many milliseconds, rounded up to whole ones. */
  of(leftMs: number): Deadlines {
    const deadlineMs = Math.ceil(leftMs);
    const known = this.#byLength.get(deadlineMs);
    if (known !== undefined) return known;
    if (this.#byLength.size >= MAX_LENGTHS) this.#dropIdle();
    const deadlines = new Deadlines(deadlineMs, this.#time);
    this.#byLength.set(deadlineMs, deadlines);
    return deadlines;
  }

  #dropIdle(): void {
    for (const [length, { waiting }] of this.#byLength) if (waiting === 0) this.#byLength.delete(length);
  }
}

/** @throws {SluiceError} `ERR_OPTION` if a deadline is wrong. */
export function checkDeadline(deadlineMs: unknown): void {
  if (typeof deadlineMs === 'number' && deadlineMs > 0 && deadlineMs <= MAX_DEADLINE_MS) return;
  const demand = `a number of milliseconds above 0, at most ${MAX_DEADLINE_MS}`;
  throw complaint('ERR_OPTION', {
    option: 'deadlineMs',
    demand,
    value: deadlineMs,
    remedy: 'For example deadlineMs: 50.',
  });
}
