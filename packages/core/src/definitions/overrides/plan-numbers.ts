import { isPlainObject } from '../../checks/options.ts';
import type { AnyKind } from '../../kinds/kind.ts';
import type { OverrideRate } from '../../limits/limit.ts';
import type { OptionRows } from '../../limits/option.ts';
import type { Override } from './override.ts';

type Change = Exclude<Override, string>;

/** The values of all options of an override, and of the options in them, one after the other. */
export type PlanNumbers = readonly unknown[];

/** Plans are few. The bound is for lists and functions whose numbers are ever new. */
const MOST_PLANS = 1000;

/** The numbers of overrides of one kind, in ticks: those of equal ones are one object. */
export class PlanRates {
  readonly #options: PlanOptions;
  readonly #byText = new Map<string, OverrideRate>();

  constructor(kind: AnyKind) {
    this.#options = new PlanOptions(kind.override?.options ?? {});
  }

  /** Whether as many plans are remembered as can be: the next new one makes room for itself, and all others are forgotten. */
  get isFull(): boolean {
    return this.#byText.size >= MOST_PLANS;
  }

  /** Returns the numbers of an override that are remembered, or else converts them and remembers what comes out. */
  rateOf(override: Change, convert: () => OverrideRate): OverrideRate {
    const text = this.#options.textOf(override);
    const known = text === undefined ? undefined : this.#byText.get(text);
    if (known !== undefined) return known;
    const rate = convert();
    if (this.isFull) this.#byText.clear();
    if (text !== undefined) this.#byText.set(text, rate);
    return rate;
  }
}

/** Reads the numbers of overrides of one kind, to recognize equal ones. */
export class PlanOptions {
  readonly #names: readonly string[];
  /** The options that have options. */
  readonly #nested: readonly (readonly [name: string, options: PlanOptions])[];

  constructor(rows: OptionRows) {
    const nested = Object.entries(rows).flatMap(([name, { value }]) =>
      value.type === 'options' ? [[name, new PlanOptions(value.rows)] as const] : [],
    );
    this.#nested = nested;
    this.#names = Object.keys(rows).filter((name) => !nested.some(([other]) => other === name));
  }

  /** Returns all numbers of an override. */
  numbersOf(override: Change): PlanNumbers {
    const values: unknown[] = [];
    this.#addTo(values, override);
    return values;
  }

  // Those of options that are left out take one place, which is undefined: a list of values is of one override only.
  #addTo(values: unknown[], part: object): void {
    const given = part as Readonly<Record<string, unknown>>;
    for (const name of this.#names) values.push(given[name]);
    for (const [name, options] of this.#nested) {
      const value = given[name];
      values.push(isPlainObject(value) ? 'given' : value);
      if (isPlainObject(value)) options.#addTo(values, value);
    }
  }

  /** Whether an override still has the numbers that were read from it: a function may change an object and return it again. */
  hasNumbers(override: Change, numbers: PlanNumbers): boolean {
    const all = this.numbersOf(override);
    return all.length === numbers.length && all.every((value, i) => value === numbers[i]);
  }

  /**
   * Returns a text that is the same for overrides with the same numbers. Undefined for an override that is not valid, because
   * it has other options or values.
   */
  textOf(override: Change): string | undefined {
    if (!this.#hasOnlyOptions(override)) return undefined;
    const texts = this.numbersOf(override).map(textOfValue);
    return texts.includes(undefined) ? undefined : texts.join(' ');
  }

  #hasOnlyOptions(part: object): boolean {
    const given = part as Readonly<Record<string, unknown>>;
    const isKnown = (name: string): boolean =>
      this.#names.includes(name) || this.#nested.some(([nested]) => nested === name);
    return (
      isPlainObject(part) &&
      Object.keys(part).every(isKnown) &&
      this.#nested.every(([name, options]) => !isPlainObject(given[name]) || options.#hasOnlyOptions(given[name]))
    );
  }
}

/** A text has its length in front, so that no two lists of values have the same text. */
function textOfValue(value: unknown): string | undefined {
  if (typeof value === 'string') return `${value.length}:${value}`;
  return value === undefined || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
