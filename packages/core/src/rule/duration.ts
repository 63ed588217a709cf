import { complaint } from '../checks/errors.ts';
import { leafOf } from '../checks/options.ts';
import { TICKS_PER_MICRO } from './ticks.ts';

/**
 * A length of time: a string in the style of Go, with `d` for days, such as `'500ms'`, `'1s'`, `'180m'`, `'1h30m'`,
 * `'1.5h'`, `'168h'` or `'7d'`; or a number of milliseconds of at least 1000. The units are `us`, `µs`, `ms`, `s`, `m`,
 * `h` and `d`. A smaller number is an error, because `60` could mean 60 seconds.
 */
export type Duration = number | string;

/** A smaller number is as likely to mean seconds as milliseconds. */
const LEAST_BARE_MS = 1000;

const MICROS_PER_UNIT: Readonly<Record<string, number>> = {
  us: 1,
  µs: 1,
  ms: 1e3,
  s: 1e6,
  m: 60e6,
  h: 3600e6,
  d: 86_400e6,
};
/** The pattern of a duration that is a string. */
export const DURATION_PATTERN: RegExp = /^(?:\d+(?:\.\d+)?(?:us|µs|ms|s|m|h|d))+$/;
const PART = /(\d+(?:\.\d+)?)(us|µs|ms|s|m|h|d)/g;

/** What a duration must be. */
export interface DurationRange {
  readonly minMs: number;
  readonly maxMs: number;
  /** The range in words, for error messages. */
  readonly demand: string;
}

/**
 * Converts a duration to ticks.
 *
 * @param option - The path of the option in error messages.
 * @throws {SluiceError} `ERR_DURATION` when it is not a duration, is out of range, is not a whole number of
 * microseconds, or is a number below 1000.
 */
export function durationTicks(option: string, value: unknown, { minMs, maxMs, demand }: DurationRange): number {
  const micros = isAmbiguous(value) ? undefined : microsOf(value);
  if (micros !== undefined && Number.isInteger(micros) && micros >= minMs * 1000 && micros <= maxMs * 1000) {
    return micros * TICKS_PER_MICRO;
  }
  const isRight = (text: string): boolean => {
    const meant = microsOf(text)!;
    return meant >= minMs * 1000 && meant <= maxMs * 1000;
  };
  const remedy = remedyFor(option, value, isRight);
  throw complaint('ERR_DURATION', { option, demand: `a duration of whole microseconds ${demand}`, value, remedy });
}

function isAmbiguous(value: unknown): boolean {
  return typeof value === 'number' && value < LEAST_BARE_MS;
}

/** For numbers that a function was to return for each request. */
export const NO_FUNCTION =
  "The numbers of a limit are fixed when the server starts. Those of a client or a plan are overrides, which may be a function: count: 100, period: '1m' for all others, and overrides: (limit, id, request) => …";

function remedyFor(option: string, value: unknown, isRight: (text: string) => boolean): string {
  if (typeof value === 'function' && leafOf(option) === 'period') return NO_FUNCTION;
  // A string of digits was meant as a number.
  const amount = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  if (Number.isSafeInteger(amount) && (amount as number) > 0) {
    const units = UNITS.filter(([unit]) => isRight(`${String(amount)}${unit}`));
    if (units.length > 0) {
      return `Write its unit: ${units.map(([unit, name]) => `'${String(amount)}${unit}' for ${name}`).join(', ')}.`;
    }
  }
  const meant = typeof value === 'string' ? meantDuration(value) : undefined;
  if (meant !== undefined && isRight(meant)) return `Write ${leafOf(option)}: '${meant}'.`;
  if (typeof value === 'string' && leafOf(option) === 'period') {
    const [, unit] = CALENDAR_WORDS.exec(value.trim()) ?? [];
    if (unit !== undefined) return calendarRemedy(unit.toLowerCase());
  }
  const examples = EXAMPLES.filter(isRight).map((text) => `'${text}'`);
  const listed = [examples.slice(0, -1).join(', '), examples.at(-1)].filter((text) => text !== '').join(' or ');
  // Its spelling is right, and its length is not.
  if (typeof value === 'string' && microsOf(value) !== undefined) return `For example ${listed}.`;
  return `Write a string with its unit, such as ${listed}, or a number of milliseconds from 1000 up.`;
}

const UNITS = [
  ['s', 'seconds'],
  ['ms', 'milliseconds'],
] as const;

/** One second is in every range. */
const EXAMPLES = ['500ms', '1s', '1h30m', '7d'] as const;

const IN_WORDS = /^\s*(\d{1,9})\s*([a-z]+)\s*$/i;
const WORDS: readonly (readonly [words: RegExp, count: number, unit: string])[] = [
  [/^m(?:illi)?s(?:ec(?:ond)?)?s?$/, 1, 'ms'],
  [/^s(?:ec(?:ond)?s?)?$/, 1, 's'],
  [/^m(?:in(?:ute)?s?)?$/, 1, 'm'],
  [/^h(?:(?:ou)?rs?)?$/, 1, 'h'],
  [/^d(?:ays?)?$/, 1, 'd'],
  [/^w(?:eeks?)?$/, 7, 'd'],
];

const CALENDAR_WORDS = /^(?:1\s?)?(month|year)s?$/i;

/** Months and years differ in length, so they are no durations. */
function calendarRemedy(unit: string): string {
  return `A ${unit} has no fixed length: use per: '${unit}' instead of period, or period: '${unit === 'month' ? 30 : 365}d'.`;
}

/** Converts a duration in words, or with a space or capitals, to our notation: `'1m'` for `'1 minute'`. */
function meantDuration(text: string): string | undefined {
  const [, amount, word = ''] = IN_WORDS.exec(text) ?? [];
  const [, count, unit] = WORDS.find(([words]) => words.test(word.toLowerCase())) ?? [];
  return unit === undefined ? undefined : `${Number(amount) * count!}${unit}`;
}

function microsOf(value: unknown): number | undefined {
  if (typeof value === 'number') return roundedToMicro(value * 1000);
  if (typeof value !== 'string' || value.length > 64 || !DURATION_PATTERN.test(value)) return undefined;
  let micros = 0;
  for (const [, amount, unit] of value.matchAll(PART)) micros += Number(amount) * (MICROS_PER_UNIT[unit!] as number);
  return roundedToMicro(micros);
}

// 1.001 × 1000 is not a whole number in a double. A value within a hundredth of a microsecond of a whole number is
// rounded.
function roundedToMicro(micros: number): number {
  const whole = Math.round(micros);
  return Math.abs(micros - whole) < 0.01 ? whole : micros;
}
