import type { Limit, OverrideRate } from '../../limits/limit.ts';
import type { Periods } from '../../limits/periods.ts';
import { systemTime } from '../../time/system-time.ts';
import type { Time } from '../../time/time.ts';
import type { OverrideEnd } from './override-end.ts';

/** Reads a value that may have ended: `undefined` then. */
export type Now<Value> = (value: Value | undefined) => Value | undefined;

/** The overrides of one limit that have an end. They are compared with the clock when they are looked up: no timer is set. */
export class OverrideEnds {
  /** Returns the numbers that a table has for an id; `undefined` after their end. That of the limiter that used them last. */
  now: Now<OverrideRate> = nowBy(systemTime, undefined);
  /** Equal ones are one object: a list of many ids has few different ends. */
  readonly #listed = new Map<OverrideRate, Map<string, ListedEnd>>();

  /** Ends follow this source of time from now on, in the time zone of the limit; what was `now` before stays as it is. */
  follow(time: Time = systemTime, { periods }: Pick<Limit<never>, 'periods'>): void {
    this.now = nowBy(time, periods);
  }

  /** Returns what the tables keep for numbers with an end. */
  listed(rate: OverrideRate, end: OverrideEnd): ListedEnd {
    let byText = this.#listed.get(rate);
    if (byText === undefined) this.#listed.set(rate, (byText = new Map()));
    let listed = byText.get(end.text);
    if (listed === undefined) byText.set(end.text, (listed = new ListedEnd(rate, end)));
    return listed;
  }
}

function nowBy(time: Time, periods: Periods | undefined): Now<OverrideRate> {
  return (listed) => {
    if (!((listed as unknown) instanceof ListedEnd)) return listed;
    const { rate, end } = listed as unknown as ListedEnd;
    return time.wallNow() < end.msIn(periods) ? rate : undefined;
  };
}

/** Numbers with an end. */
class ListedEnd {
  readonly rate: OverrideRate;
  readonly end: OverrideEnd;

  constructor(rate: OverrideRate, end: OverrideEnd) {
    this.rate = rate;
    this.end = end;
  }
}
