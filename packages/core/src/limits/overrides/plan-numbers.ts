import type { Override } from './override.ts';

type Numbers = Exclude<Override, string>;

/** The options of an override, and of its `borrow` and `borrow.ceiling`, one after the other. */
export type PlanNumbers = readonly unknown[];

const OPTIONS = new Set([
  'burst',
  'count',
  'period',
  'maxDebt',
  'maxWait',
  'concurrency',
  'borrow',
  'ceiling',
  'weight',
]);

/** Returns all numbers of an override, also those of `borrow`. */
export function numbersOf({ burst, count, period, maxDebt, maxWait, concurrency, borrow }: Numbers): PlanNumbers {
  const own = [burst, count, period, maxDebt, maxWait, concurrency];
  return borrow === undefined || borrow === null ? own : [...own, ...numbersOfBorrow(borrow)];
}

/** Whether an override still has the numbers that were read from it: a function may change an object and return it again. */
export function hasNumbers(override: Numbers, numbers: PlanNumbers): boolean {
  const { burst, count, period, maxDebt, maxWait, concurrency, borrow } = override;
  const isSameOwn =
    burst === numbers[0] &&
    count === numbers[1] &&
    period === numbers[2] &&
    maxDebt === numbers[3] &&
    maxWait === numbers[4] &&
    concurrency === numbers[5];
  if (!isSameOwn || borrow === undefined) return isSameOwn && numbers.length === 6;
  return borrow !== null && numbersOfBorrow(borrow).every((value, i) => value === numbers[6 + i]);
}

/**
 * Returns a text that is the same for overrides with the same numbers. Undefined for an override that is not valid, because
 * it has other options or values.
 */
export function textOf(override: Numbers): string | undefined {
  const { borrow } = override;
  const parts: readonly unknown[] = [override, borrow, borrow?.ceiling];
  if (parts.some((part) => part !== undefined && !hasOnlyOptions(part))) return undefined;
  const texts = numbersOf(override).map(textOfValue);
  return texts.includes(undefined) ? undefined : texts.join(' ');
}

function numbersOfBorrow({ ceiling, weight }: NonNullable<Numbers['borrow']>): readonly unknown[] {
  return [weight, ceiling?.burst, ceiling?.count, ceiling?.period, ceiling === undefined];
}

function hasOnlyOptions(part: unknown): boolean {
  return typeof part === 'object' && part !== null && Object.keys(part).every((name) => OPTIONS.has(name));
}

/** A text has its length in front, so that no two lists of values have the same text. */
function textOfValue(value: unknown): string | undefined {
  if (typeof value === 'string') return `${value.length}:${value}`;
  return value === undefined || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
