import { complaint } from '../../checks/errors.ts';
import { leafOf } from '../../checks/options.ts';
import type { Periods } from '../../limits/periods.ts';

const DAY_MS = 86_400_000;
const FORM = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}(?::\d{2})?)(Z|[+-]\d{2}:\d{2})?)?$/;

/** When an override ends: an instant, or a local time whose instant depends on the time zone of the limit. */
export class OverrideEnd {
  /** As it was given, in ISO 8601. */
  readonly text: string;
  readonly #ms: number;
  readonly #isLocal: boolean;
  /** The latest result. Each limit has one zone. */
  #known: { readonly periods: unknown; readonly ms: number } | undefined;

  /** @param ms - Unix time in milliseconds; of a local time, that at which UTC shows it. */
  constructor(text: string, ms: number, { isLocal }: { readonly isLocal: boolean }) {
    this.text = text;
    this.#ms = ms;
    this.#isLocal = isLocal;
  }

  /**
   * Returns the first millisecond of Unix time at which the override no longer applies.
   *
   * @param periods - Those of the limit, whose time zone counts. Without them, it is UTC.
   */
  msIn(periods: Pick<Periods, 'instantOf'> | undefined): number {
    if (!this.#isLocal || periods === undefined) return this.#ms;
    if (this.#known?.periods !== periods) this.#known = { periods, ms: periods.instantOf(this.#ms) };
    return this.#known.ms;
  }
}

/**
 * Reads the end of an override: a day, `2027-01-31`, to the end of it; a local time, `2027-01-31T18:00`; or an instant,
 * `2027-01-31T18:00Z` or a `Date`.
 *
 * @param option - Its path in error messages: `until`.
 * @throws {SluiceError} `ERR_OPTION` when it is none of these, or does not exist.
 */
export function overrideEnd(option: string, value: unknown): OverrideEnd {
  return (
    (value instanceof Date ? endAt(value) : typeof value === 'string' && endNamed(value)) || notAnEnd(option, value)
  );
}

function endAt(date: Date): OverrideEnd | undefined {
  const ms = date.getTime();
  return Number.isNaN(ms) ? undefined : new OverrideEnd(date.toISOString(), ms, { isLocal: false });
}

function endNamed(text: string): OverrideEnd | undefined {
  const [, day, time, offset] = FORM.exec(text) ?? [];
  if (day === undefined || !exists(day)) return undefined;
  if (time === undefined) return new OverrideEnd(text, Date.parse(day) + DAY_MS, { isLocal: true });
  const ms = Date.parse(`${day}T${time}${offset ?? 'Z'}`);
  return Number.isNaN(ms) ? undefined : new OverrideEnd(text, ms, { isLocal: offset === undefined });
}

// Some engines read 30 February as 2 March.
function exists(day: string): boolean {
  const ms = Date.parse(day);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}

function notAnEnd(option: string, value: unknown): never {
  const demand = 'a day that exists, such as 2027-01-31, or a time, such as 2027-01-31T18:00';
  const remedy = `For example ${leafOf(option)}: 2027-01-31, to the end of that day in the time zone of the limit.`;
  throw complaint('ERR_OPTION', { option, demand, value, remedy });
}
