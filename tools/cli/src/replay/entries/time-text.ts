/** How finely a time is written. */
export type Resolution = 'second' | 'fraction';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const [ZERO, NINE, DOT, DASH, SLASH, COLON, SPACE, PLUS, TAB] = [48, 57, 46, 45, 47, 58, 32, 43, 9];
const [HOUR_MS, MINUTE_MS] = [3_600_000, 60_000];
const LETTERS = { T: 84, Z: 90 } as const;

/** The years of logs. Later times are not exact in microseconds, and are mistakes. */
const [FIRST_YEAR, LAST_YEAR] = [1970, 2199];
const END_MICROS = Date.UTC(LAST_YEAR + 1, 0) * 1000;

/** The longest text of a time up to its whole seconds, with the zone of `23/Nov/2026:13:05:59 +0100`. */
const MAX_REMEMBERED = 32;

/**
 * Reads times as logs write them: `23/Nov/2026:13:05:59 +0100`, `2026-11-23T13:05:59.123Z`, and numbers since 1970 in
 * seconds, milliseconds, microseconds or nanoseconds. A date without a time zone is taken as UTC. The years are 1970 to 2199.
 */
export class TimeReader {
  /** The resolution of the last time that was read. */
  resolution: Resolution = 'second';
  /** The last date that was read, because most lines have the second of the line before. */
  readonly #last = Buffer.alloc(MAX_REMEMBERED);
  #lastLength = 0;
  #lastMicros = NaN;

  /** Returns microseconds since 1970, a whole number; NaN for text that is not a time that exists. */
  read(bytes: Buffer, start: number, end: number): number {
    if (end - start > 64) return NaN;
    if (bytes[start + 2] === SLASH) return this.#commonLog(bytes, start, end);
    if (bytes[start + 4] === DASH) return this.#iso(bytes, start, end);
    return this.#number(bytes, start, end);
  }

  #commonLog(bytes: Buffer, start: number, end: number): number {
    // HAProxy writes milliseconds.
    if (bytes[start + 20] === DOT && start + 20 < end) return this.#fractional(bytes, start, end, start + 20);
    this.resolution = 'second';
    if (this.#isLast(bytes, start, end)) return this.#lastMicros;
    const offset = bytes[start + 20] === SPACE ? zoneMs(bytes, start + 21, end) : 0;
    return this.#remember(bytes, start, end, commonLogMicros(bytes, start) - offset * 1000);
  }

  #iso(bytes: Buffer, start: number, end: number): number {
    const separator = bytes[start + 10];
    if (separator !== LETTERS.T && separator !== SPACE && separator !== TAB) return NaN;
    return this.#fractional(bytes, start, end, start + 19);
  }

  /** @param at - The end of the whole second, which may have a fraction and a zone after it. */
  #fractional(bytes: Buffer, start: number, end: number, secondEnd: number): number {
    let at = secondEnd;
    let fraction = 0;
    if (bytes[at] === DOT && at < end) {
      let unit = 100_000;
      for (at++; at < end && isDigit(bytes[at]!); at++, unit /= 10) fraction += Math.floor(unit) * (bytes[at]! - ZERO);
    }
    this.resolution = at > secondEnd ? 'fraction' : 'second';
    if (bytes[at] === SPACE) at++;
    const offset = at >= end || bytes[at] === LETTERS.Z ? 0 : zoneMs(bytes, at, end);
    const known = this.#isLast(bytes, start, secondEnd) ? this.#lastMicros : undefined;
    const micros = known ?? this.#remember(bytes, start, secondEnd, dateTimeMicros(bytes, start));
    return micros + fraction - offset * 1000;
  }

  #number(bytes: Buffer, start: number, end: number): number {
    let whole = 0;
    let at = start;
    for (; at < end && isDigit(bytes[at]!); at++) whole = whole * 10 + (bytes[at]! - ZERO);
    const length = at - start;
    if (length < 9 || length > 19) return NaN;
    // Seconds have 10 digits until the year 2286, milliseconds 13, microseconds 16, nanoseconds 19.
    const perUnit = length < 12 ? 1e6 : length < 15 ? 1e3 : length < 18 ? 1 : 1e-3;
    let micros = perUnit < 1 ? Math.floor(whole * perUnit) : whole * perUnit;
    if (at < end && bytes[at] !== DOT) return NaN;
    let hasFraction = perUnit < 1e6;
    for (let unit = perUnit / 10, i = at + 1; i < end; i++, unit /= 10) {
      if (!isDigit(bytes[i]!)) return NaN;
      hasFraction = true;
      if (unit >= 1) micros += unit * (bytes[i]! - ZERO);
    }
    this.resolution = hasFraction ? 'fraction' : 'second';
    return micros < END_MICROS ? Math.round(micros) : NaN;
  }

  #isLast(bytes: Buffer, start: number, end: number): boolean {
    const length = end - start;
    if (length !== this.#lastLength) return false;
    // From the end, where seconds differ.
    for (let i = length - 1; i >= 0; i--) if (bytes[start + i] !== this.#last[i]) return false;
    return true;
  }

  #remember(bytes: Buffer, start: number, end: number, micros: number): number {
    this.#lastLength = end - start > MAX_REMEMBERED || Number.isNaN(micros) ? 0 : end - start;
    bytes.copy(this.#last, 0, start, start + this.#lastLength);
    this.#lastMicros = micros;
    return micros;
  }
}

/**
 * Returns a decimal number such as `0.125`, times a unit and rounded to a whole number; NaN for text that is not a
 * number.
 */
export function decimalTimes(unit: number, bytes: Buffer, start: number, end: number): number {
  let value = 0;
  let scale = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (isDigit(byte)) {
      value = value * 10 + (byte - ZERO);
      scale *= 10;
    } else if (byte === DOT && scale === 0) scale = 1;
    else return otherNumber(unit, bytes.toString('utf8', start, end));
  }
  return start === end ? NaN : Math.round((value / (scale === 0 ? 1 : scale)) * unit);
}

/** A number with an exponent, or in a unit of its own, as `1.5ms`. */
function otherNumber(unit: number, text: string): number {
  const [, number, suffix] = /^([\d.]+(?:e[+-]?\d+)?)(ns|us|µs|ms|s)?$/i.exec(text) ?? [];
  if (number === undefined) return NaN;
  const units: Readonly<Record<string, number>> = { ns: 0.001, us: 1, µs: 1, ms: 1000, s: 1e6 };
  return Math.round(Number(number) * (suffix === undefined ? unit : units[suffix.toLowerCase()]!));
}

/**
 * Returns the start of a day in UTC; NaN for one that does not exist, such as 30 February.
 *
 * @param month - From 0.
 */
function dateMs(year: number, month: number, day: number): number {
  // Date takes 30 February as 2 March, and the year 70 as 1970.
  if (!(year >= FIRST_YEAR && year <= LAST_YEAR)) return NaN;
  const ms = Date.UTC(year, month, day);
  const date = new Date(ms);
  return date.getUTCMonth() === month && date.getUTCDate() === day ? ms : NaN;
}

/** Reads `23/Nov/2026:13:05:59` or `2026-11-23T13:05:59`. */
function dateTimeMicros(bytes: Buffer, start: number): number {
  if (bytes[start + 2] === SLASH) return commonLogMicros(bytes, start);
  const date = dateMs(digits(bytes, start, 4), digits(bytes, start + 5, 2) - 1, digits(bytes, start + 8, 2));
  return (date + clockMs(bytes, start + 11)) * 1000;
}

function commonLogMicros(bytes: Buffer, start: number): number {
  const month = MONTHS.indexOf(bytes.toString('latin1', start + 3, start + 6));
  if (month === -1 || bytes[start + 11] !== COLON) return NaN;
  const date = dateMs(digits(bytes, start + 7, 4), month, digits(bytes, start, 2));
  return (date + clockMs(bytes, start + 12)) * 1000;
}

/** Reads `13:05:59`, and `23:59:60`, which is a leap second. */
function clockMs(bytes: Buffer, at: number): number {
  const [hour, minute, second] = [digits(bytes, at, 2), digits(bytes, at + 3, 2), digits(bytes, at + 6, 2)];
  if (!(hour <= 23 && minute <= 59 && second <= 60)) return NaN;
  return hour * HOUR_MS + minute * MINUTE_MS + second * 1000;
}

/** Reads `+0100`, `+01:00` and `Z`. */
function zoneMs(bytes: Buffer, start: number, end: number): number {
  const sign = bytes[start] === DASH ? -1 : bytes[start] === PLUS ? 1 : 0;
  if (sign === 0 || end - start < 5) return sign === 0 && bytes[start] === LETTERS.Z ? 0 : NaN;
  const minutesAt = bytes[start + 3] === COLON ? start + 4 : start + 3;
  const [hours, minutes] = [digits(bytes, start + 1, 2), digits(bytes, minutesAt, 2)];
  return hours <= 23 && minutes <= 59 ? sign * (hours * HOUR_MS + minutes * MINUTE_MS) : NaN;
}

function digits(bytes: Buffer, at: number, count: number): number {
  let value = 0;
  for (let i = at; i < at + count; i++) {
    const byte = bytes[i]!;
    if (!isDigit(byte)) return NaN;
    value = value * 10 + (byte - ZERO);
  }
  return value;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}
