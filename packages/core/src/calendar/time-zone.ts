import { complaint } from '../checks/errors.ts';
import { leafOf } from '../checks/options.ts';

const DAY_MS = 86_400_000;
/** At most the offsets of so many days are kept for a time zone: eleven years. */
const MAX_DAYS = 4000;

/**
 * The clock of a time zone. A local time is what this clock shows, written as the milliseconds that UTC would have at
 * the same date and time, so that dates are computed with `Date.UTC` and differences are plain numbers.
 */
export class TimeZone {
  readonly name: string;
  /** Undefined for UTC. */
  readonly #format: Intl.DateTimeFormat | undefined;
  /** By day of UTC: the offset of the whole day, or NaN for a day on which the clock changes. */
  readonly #offsets = new Map<number, number>();

  /** @param name - A time zone that the platform supports, see {@link checkTimeZone}. */
  constructor(name: string) {
    this.name = name;
    this.#format = name === 'UTC' ? undefined : formatOf(name);
  }

  /** Returns the local time at an instant, in milliseconds of Unix time. */
  localAt(ms: number): number {
    if (this.#format === undefined) return ms;
    const day = Math.floor(ms / DAY_MS);
    const offset = this.#offsets.get(day) ?? this.#offsetOf(day);
    return Number.isNaN(offset) ? this.#shownAt(ms) : ms + offset;
  }

  /** Changes of the clock are more than two days apart, so a day that begins and ends with one offset has no other. */
  #offsetOf(day: number): number {
    const [first, last] = [day * DAY_MS, (day + 1) * DAY_MS].map((ms) => this.#shownAt(ms) - ms);
    const offset = first === last ? first! : NaN;
    if (this.#offsets.size >= MAX_DAYS) this.#offsets.clear();
    this.#offsets.set(day, offset);
    return offset;
  }

  /** What the platform shows, which takes some microseconds. */
  #shownAt(ms: number): number {
    // Offsets are whole seconds.
    const seconds = Math.floor(ms / 1000) * 1000;
    const part: Record<string, number> = {};
    for (const { type, value } of this.#format!.formatToParts(seconds)) part[type] = Number(value);
    const { year, month, day, hour, minute, second } = part;
    return Date.UTC(year!, month! - 1, day, hour, minute, second) + ms - seconds;
  }

  /**
   * Returns the first instant at which the clock shows a local time or a later one. If the clock skips the time, this
   * is the moment of the change; if it shows the time twice, this is the first of the two. So a day begins at its first
   * instant, even where clocks change at midnight.
   */
  instantOf(local: number): number {
    if (this.#format === undefined) return local;
    // A change of the clock is at most a day, and changes are more than two days apart.
    const [early, late] = [this.#offsetAt(local - DAY_MS), this.#offsetAt(local + DAY_MS)];
    const [first, second] = [local - Math.max(early, late), local - Math.min(early, late)];
    if (this.localAt(first) === local) return first;
    return this.localAt(second) === local ? second : this.#changeBetween(first, second, local);
  }

  #offsetAt(ms: number): number {
    return this.localAt(ms) - ms;
  }

  /** The first instant after `before`, and not after `after`, at which the clock shows `local` or later. */
  #changeBetween(before: number, after: number, local: number): number {
    let [low, high] = [before, after];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.localAt(middle) < local) low = middle;
      else high = middle;
    }
    return high;
  }
}

/** At most this many time zones are kept. A platform has about six hundred, and takes their names in any case. */
const MAX_ZONES = 1000;

/** By name: the format of each takes about 25 kB and half a millisecond. */
const zones = new Map<string, TimeZone>();

/**
 * Returns the time zone with a name.
 *
 * @throws {RangeError} When the platform does not support it.
 */
export function timeZoneNamed(name: string): TimeZone {
  const known = zones.get(name);
  if (known !== undefined) return known;
  const zone = new TimeZone(name);
  if (zones.size >= MAX_ZONES) zones.clear();
  zones.set(name, zone);
  return zone;
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-US-u-ca-iso8601-nu-latn', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
}

/**
 * Returns a value that is the name of a time zone.
 *
 * @param option - Its path in error messages: `limits.Monthly.timeZone`.
 * @throws {SluiceError} `ERR_OPTION` when the platform does not support the zone.
 */
export function checkTimeZone(option: string, value: unknown): string {
  if (typeof value === 'string' && isKnown(value)) return value;
  const remedy = `For example ${leafOf(option)}: 'Europe/Berlin'. For UTC leave it out.`;
  throw complaint('ERR_OPTION', { option, demand: 'a time zone of the IANA database', value, remedy });
}

function isKnown(name: string): boolean {
  try {
    timeZoneNamed(name);
    return true;
  } catch {
    return false;
  }
}
