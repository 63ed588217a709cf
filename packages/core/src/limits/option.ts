import { complaint } from '../checks/errors.ts';
import { checkBoolean, leafOf, oneOf, wholeNumber, type Hints, type WholeNumberDemand } from '../checks/options.ts';
import type { DurationRange } from '../rule/duration.ts';

/**
 * What is said once of an option: the checks of files, their JSON Schemas and the names that code accepts come from these
 * rows. The interface of the options has the docstrings that editors show.
 */
export interface OptionRow {
  /** One or two sentences, for the schema of files and for tables. */
  readonly about: string;
  readonly value: OptionValue;
  /**
   * Rejects a wrong value. Left out where the type says all.
   *
   * @param option - The path of the option in error messages.
   * @throws {SluiceError}
   */
  readonly check?: (option: string, value: unknown) => unknown;
}

/** Rows by the names of options. */
export type OptionRows = Readonly<Record<string, OptionRow>>;

/** A row for each option, which the compiler demands. */
export type OptionTable<Options extends object> = {
  readonly [Name in keyof Options & string]-?: OptionRow;
};

/** What the value of an option is. */
export type OptionValue =
  | WholeNumber
  | Fraction
  | { readonly type: 'duration'; readonly range: DurationRange; readonly examples: Examples }
  | { readonly type: 'choice'; readonly choices: readonly string[]; readonly example: string }
  /** With a pattern, it must match it: `demand` says so in words. */
  | { readonly type: 'text'; readonly pattern?: string; readonly demand?: string; readonly example: string }
  | { readonly type: 'name of a limit' }
  | { readonly type: 'switch' }
  /** What is there or not: its only value is true. */
  | { readonly type: 'mark' }
  | { readonly type: 'parts' }
  /** Durations by numbers of tokens. */
  | { readonly type: 'bounds'; readonly window: OptionRow }
  | { readonly type: 'options'; readonly rows: OptionRows; readonly needed: readonly string[] }
  /** The name of a source that files may have, or the options of one. */
  | { readonly type: 'source'; readonly source: string; readonly rows: OptionRows; readonly hints: Hints };

interface WholeNumber extends WholeNumberDemand {
  readonly type: 'whole number';
  readonly example: string;
}

/** A number above 0, which need not be whole. Without a limit it has no upper end. */
interface Fraction {
  readonly type: 'fraction';
  readonly most?: number;
  readonly below?: number;
  readonly demand: string;
  readonly example: string;
  readonly remedy: string;
}

/** Durations with their units, such as `1m`. Messages show the second alone, or all. */
type Examples = readonly [string, string, ...string[]];

/** The option that all kinds which ask a store have, and only a rate may change. */
export const EXACT_ROW: OptionRow = {
  about: 'Decides exactly, by a call of the store for each request. That is the default.',
  value: { type: 'switch' },
};

/**
 * Rejects a wrong value of an option: by the check of its row, or else by its type.
 *
 * @param option - Its path in error messages.
 * @throws {SluiceError}
 */
export function checkOption({ check, value: demanded }: OptionRow, option: string, value: unknown): void {
  if (check !== undefined) check(option, value);
  else if (demanded.type === 'whole number') wholeNumber(option, value, demanded);
  else if (demanded.type === 'choice') oneOf(option, value, demanded.choices);
  else if (demanded.type === 'switch') checkBoolean(option, value);
  else if (demanded.type === 'fraction') checkFraction(option, value, demanded);
  else if (demanded.type === 'text') checkText(option, value, demanded);
}

/** Checks each option that is given, by its row. */
export function checkGiven(rows: OptionRows, where: string, options: object): void {
  const given = options as Readonly<Record<string, unknown>>;
  for (const [name, row] of Object.entries(rows))
    if (given[name] !== undefined) checkOption(row, `${where}.${name}`, given[name]);
}

/** Rejects a value that is not a number in a range above 0. */
export function checkFraction(
  option: string,
  value: unknown,
  { most = Infinity, below = Infinity, demand, remedy }: Fraction,
): asserts value is number {
  if (typeof value === 'number' && value > 0 && value <= most && value < below) return;
  throw complaint('ERR_OPTION', { option, demand, value, remedy });
}

function checkText(
  option: string,
  value: unknown,
  { pattern, demand, example }: Extract<OptionValue, { type: 'text' }>,
): void {
  if (demand === undefined || (typeof value === 'string' && new RegExp(pattern!).test(value))) return;
  throw complaint('ERR_OPTION', { option, demand, value, remedy: `For example ${leafOf(option)}: ${example}.` });
}
