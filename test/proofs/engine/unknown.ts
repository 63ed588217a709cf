/** An unknown number: one that a theorem is for all values of, or one that the engine has introduced, such as a quotient. */
export interface Unknown {
  readonly name: string;
  readonly isWhole: boolean;
  /** The range, as far as it is known without the path. */
  readonly min: bigint | undefined;
  readonly max: bigint | undefined;
}

/** The least and the greatest value, where they are known. */
export interface Range {
  readonly min: bigint | undefined;
  readonly max: bigint | undefined;
}

/** The sum of two ranges. */
export function plus(one: Range, other: Range): Range {
  return { min: both(one.min, other.min, (a, b) => a + b), max: both(one.max, other.max, (a, b) => a + b) };
}

/** A range multiplied by a number. */
export function scaled({ min, max }: Range, factor: bigint): Range {
  const [low, high] = factor < 0n ? [max, min] : [min, max];
  return { min: both(low, factor, (a, b) => a * b), max: both(high, factor, (a, b) => a * b) };
}

/** The product of two ranges. Only products of numbers that are not negative are estimated. */
export function times(one: Range, other: Range): Range {
  if (one.min === undefined || other.min === undefined || one.min < 0n || other.min < 0n) {
    return { min: undefined, max: undefined };
  }
  return { min: one.min * other.min, max: both(one.max, other.max, (a, b) => a * b) };
}

function both(
  one: bigint | undefined,
  other: bigint | undefined,
  combine: (one: bigint, other: bigint) => bigint,
): bigint | undefined {
  return one === undefined || other === undefined ? undefined : combine(one, other);
}
