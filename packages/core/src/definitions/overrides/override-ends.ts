import type { Limit, OverrideRate } from '../../limits/limit.ts';
import type { Periods } from '../../limits/periods.ts';
import { systemTime } from '../../time/system-time.ts';
import type { Time } from '../../time/time.ts';
import type { OverrideEnd } from './override-end.ts';

/** Reads a value that may have ended: `undefined` then. */
export type Now<Value> = (value: Value | undefined) => Value | undefined;

/** The overrides of one limit that have an end. They are compared with the clock when they are looked up: no timer is set. */
export class OverrideEnds {
  #periods: Periods | undefined;
  #time: Time = systemTime;
  /** Equal ones are one object: a list of many ids has few different ends. */
  readonly #listed = new Map<OverrideRate, Map<string, ListedEnd>>();

  /** Ends follow this source of time from now on, in the time zone of the limit. */
  follow(time: Time | undefined, { periods }: Pick<Limit<never>, 'periods'>): void {
    if (time !== undefined) this.#time = time;
    this.#periods = periods;
  }

  /** Returns what the tables keep for numbers with an end. */
  listed(rate: OverrideRate, end: OverrideEnd): ListedEnd {
    let byText = this.#listed.get(rate);
    if (byText === undefined) this.#listed.set(rate, (byText = new Map()));
    let listed = byText.get(end.text);
    if (listed === undefined) byText.set(end.text, (listed = new ListedEnd(rate, end)));
    return listed;
  }

  /** Returns the numbers that a table has for an id; `undefined` after their end. */
  readonly now: Now<OverrideRate> = (listed) => {
    if (!((listed as unknown) instanceof ListedEnd)) return listed;
    const { rate, end } = listed as unknown as ListedEnd;
    return this.#time.wallNow() < end.msIn(this.#periods) ? rate : undefined;
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
