import type { Limit, OverrideRate } from '../../limits/limit.ts';
import type { Periods } from '../../limits/periods.ts';
import { systemTime } from '../../time/system-time.ts';
import type { Time } from '../../time/time.ts';
import type { LimitOverrides } from './limit-overrides.ts';
import type { OverrideEnd } from './override-end.ts';
import type { Override } from './override.ts';

/** An override, which may have an end. */
export type AnyOverride = Override | EndingOverride;

/** Reads a value that may have ended: `undefined` then. */
export type Now<Value> = (value: Value | undefined) => Value | undefined;

/** An override that applies until an instant: what `until` returns. */
export class EndingOverride {
  readonly override: Override;
  /** When it ends. */
  readonly end: OverrideEnd;

  constructor(override: Override, end: OverrideEnd) {
    this.override = override;
    this.end = end;
  }

  /**
   * Adds it to the overrides of its limit.
   *
   * @param rate - The numbers of the override in ticks.
   * @returns The canonical spelling of the id.
   * @throws {SluiceError} As `LimitOverrides.add`.
   */
  put(overrides: LimitOverrides, text: string, rate: OverrideRate): string {
    const ends = (overrides.ends ??= new OverrideEnds());
    // The tables keep it in the place of numbers, and only `OverrideEnds.now` reads it.
    return overrides.add(text, rate, ends.listed(rate, this.end) as unknown as OverrideRate);
  }
}

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
