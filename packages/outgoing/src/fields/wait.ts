const NUMBER = /^-?\d+(?:\.\d+)?$/;
const DURATION_PART = /(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/y;
const MS_PER_UNIT: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;
/** RFC 9110 section 5.6.7: the three forms of a date, in this order. */
const IMF_FIXDATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;
const RFC_850 = /^[A-Z][a-z]{5,8}, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/** The longest form is a date. */
const MOST_CHARACTERS = 64;

/** Numbers from here on are times since 1970, in seconds: as a wait they would be 31 years. */
const LEAST_EPOCH_SECONDS = 1e9;
/** The same in milliseconds: in seconds they would be in the year 5138. */
const LEAST_EPOCH_MS = 1e11;

/**
 * Reads when something is available again: seconds, seconds or milliseconds since 1970, a duration like `6m0s`, or a date of
 * RFC 3339 or HTTP. Of several, the latest counts.
 *
 * @param nowMs - The time from which a date is measured, in milliseconds since 1970.
 * @returns Milliseconds from 0, what has passed, to `Infinity`; undefined for any other text.
 */
export function waitIn(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  const whole = oneWait(text.trim(), nowMs);
  if (whole !== undefined || !text.includes(',')) return whole;
  let latest: number | undefined;
  for (const part of text.split(',')) {
    const wait = oneWait(part.trim(), nowMs);
    if (wait !== undefined && !(latest !== undefined && latest >= wait)) latest = wait;
  }
  return latest;
}

function oneWait(text: string, nowMs: number): number | undefined {
  if (NUMBER.test(text)) return fromNow(ofNumber(Number(text), nowMs));
  const dateMs = dateIn(text);
  return dateMs === undefined ? durationIn(text) : fromNow(dateMs - nowMs);
}

function ofNumber(number: number, nowMs: number): number {
  if (number >= LEAST_EPOCH_MS) return number - nowMs;
  return number >= LEAST_EPOCH_SECONDS ? number * 1000 - nowMs : number * 1000;
}

function fromNow(ms: number): number {
  return Math.max(0, Math.ceil(ms));
}

/** Reads a date of RFC 3339 or HTTP, in milliseconds since 1970. */
export function dateIn(text: string): number | undefined {
  if (text.length > MOST_CHARACTERS) return undefined;
  const isDate = RFC_3339.test(text) || IMF_FIXDATE.test(text) || RFC_850.test(text);
  // Without a zone, asctime would be read as local time.
  const ms = isDate ? Date.parse(text) : ASCTIME.test(text) ? Date.parse(`${text} GMT`) : NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

/** Reads a duration in the style of Go, such as `6m0s`, `120ms` or `33.023s`. */
function durationIn(text: string): number | undefined {
  let ms = 0;
  DURATION_PART.lastIndex = 0;
  let end = 0;
  while (end < text.length) {
    const part = DURATION_PART.exec(text);
    if (part === null) return undefined;
    ms += Number(part[1]) * MS_PER_UNIT[part[2]!]!;
    end = DURATION_PART.lastIndex;
  }
  DURATION_PART.lastIndex = 0;
  return end === 0 ? undefined : Math.ceil(ms);
}
