import { isPlainObject } from '../../checks/options.ts';
import { BORROW_CHANGE_ROWS } from '../../kinds/borrow/borrow.ts';
import { NUMBER_ROWS } from '../../kinds/rate/number-rows.ts';
import { OVERRIDE_OPTIONS, type Override } from './override.ts';

type Numbers = Exclude<Override, string>;

/** The values of all options of an override, and of its `borrow` and `borrow.ceiling`, one after the other. */
export type PlanNumbers = readonly unknown[];

const NAMES = OVERRIDE_OPTIONS.filter((name) => name !== 'borrow');
const OF_BORROW = Object.keys(BORROW_CHANGE_ROWS).filter((name) => name !== 'ceiling');
const OF_CEILING = Object.keys(NUMBER_ROWS);
const KNOWN = new Set([...OVERRIDE_OPTIONS, ...OF_BORROW, 'ceiling']);

/** Returns all numbers of an override, also those of `borrow`. */
export function numbersOf(override: Numbers): PlanNumbers {
  const own = valuesOf(override, NAMES);
  const { borrow } = override as { borrow?: unknown };
  return borrow === undefined || borrow === null ? own : [...own, ...numbersOfBorrow(borrow)];
}

/** Whether an override still has the numbers that were read from it: a function may change an object and return it again. */
export function hasNumbers(override: Numbers, numbers: PlanNumbers): boolean {
  const now = override as object as Readonly<Record<string, unknown>>;
  if (!NAMES.every((name, i) => now[name] === numbers[i])) return false;
  if (now['borrow'] === undefined) return numbers.length === NAMES.length;
  const all = numbersOf(override);
  return all.length === numbers.length && all.every((value, i) => value === numbers[i]);
}

/**
 * Returns a text that is the same for overrides with the same numbers. Undefined for an override that is not valid, because
 * it has other options or values.
 */
export function textOf(override: Numbers): string | undefined {
  const { borrow } = override as { borrow?: { ceiling?: unknown } };
  const parts: readonly unknown[] = [override, borrow, borrow?.ceiling];
  if (parts.some((part) => part !== undefined && !hasOnlyOptions(part))) return undefined;
  const texts = numbersOf(override).map(textOfValue);
  return texts.includes(undefined) ? undefined : texts.join(' ');
}

function numbersOfBorrow(borrow: object): readonly unknown[] {
  const { ceiling } = borrow as { ceiling?: object };
  return [...valuesOf(borrow, OF_BORROW), ...valuesOf(ceiling ?? {}, OF_CEILING), ceiling === undefined];
}

function valuesOf(options: object, names: readonly string[]): unknown[] {
  return names.map((name) => (options as Readonly<Record<string, unknown>>)[name]);
}

function hasOnlyOptions(part: unknown): boolean {
  return isPlainObject(part) && Object.keys(part).every((name) => KNOWN.has(name));
}

/** A text has its length in front, so that no two lists of values have the same text. */
function textOfValue(value: unknown): string | undefined {
  if (typeof value === 'string') return `${value.length}:${value}`;
  return value === undefined || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
