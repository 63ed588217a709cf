import { isSymbolic } from '../engine/arithmetic.ts';
import { compared, type Truth } from '../engine/condition.ts';
import { path } from '../engine/path.ts';
import { Sum } from '../engine/sum.ts';
import { Term } from './numbers.ts';

/**
 * The value of a bucket in Redis: the digits of a TAT, and three digits for the level that was written. If the numbers are
 * plain, it is the very text.
 */
export class BucketText {
  readonly tat: unknown;
  readonly code: Term;

  constructor(tat: unknown, code: Term) {
    this.tat = tat;
    this.code = code;
  }
}

/** The text that a script has written with a TAT when the bucket had a level. Plain numbers give the real text. */
export function bucketText(tat: unknown, level: unknown): unknown {
  if (typeof tat === 'number' && typeof level === 'number') return `${tat}${codeDigits(level)}`;
  return new BucketText(tat, new Term('code', level));
}

/** The digits of a level as the header of decide.lua describes them: 2^e × (1 + f / 16), rounded up, as 16 × e + f. */
function codeDigits(level: number): string {
  let e = Math.floor(Math.log2(level));
  while (2 ** e > level) e--;
  while (2 ** (e + 1) <= level) e++;
  return String(16 * e + Math.ceil((level / 2 ** e - 1) * 16)).padStart(3, '0');
}

/** What the scripts compute when they write a level, and when they read it. */
const WRITING = /^\(\(\(16 \* E\) - 32\) \+ ceil\(\(32 \* F\)\)\)$/;
const READ_FRACTION = '(1 + ((code % 16) / 16))';
const READ_EXPONENT = '((code - (code % 16)) / 16)';

const AT_LEAST_0 = { min: 0n, max: undefined };

/** `string.format` of a bucket with unknown numbers. Of a level that is written in another way, nothing is known. */
export function formattedBucket(tat: unknown, code: Term): BucketText {
  const level = WRITING.test(code.text) ? code.level : path().introduced(`other ${code.text}`, AT_LEAST_0, () => []);
  return new BucketText(tat, new Term('code', level));
}

/** `math.ldexp` of the parts of a written level: the level, rounded up by at most a sixteenth: the lemma about written levels. */
export function writtenLevel(fraction: unknown, exponent: unknown): unknown {
  const isRead = fraction instanceof Term && exponent instanceof Term;
  if (!isRead || fraction.text !== READ_FRACTION || exponent.text !== READ_EXPONENT) {
    throw new Error('The level that was written is read in another way than it is written');
  }
  return roundedUp(fraction.level);
}

/** A level that was written and read: also for theorems, which say what is known of it. */
export function roundedUp(level: unknown): unknown {
  if (typeof level === 'number') return levelOfCode(Number(codeDigits(level)));
  if (!isSymbolic(level) || !(level instanceof Sum)) throw new TypeError(`${String(level)} is not a level`);
  return path().introduced(`written ${level.toString()}`, AT_LEAST_0, (written): readonly Truth[] => [
    compared(level.minus(written), '<='),
    compared(written.times(Sum.whole(16n)).minus(level.times(Sum.whole(17n))), '<='),
  ]);
}

export function levelOfCode(code: number): number {
  return 2 ** Math.floor(code / 16) * (1 + (code % 16) / 16);
}
