import { isSymbolic } from '../engine/arithmetic.ts';
import { math } from '../engine/shadows.ts';
import { BucketText, bucketText, formattedBucket, levelOfCode, writtenLevel } from './bucket-text.ts';
import { Values } from './interpreter.ts';
import { Term } from './numbers.ts';
import { LuaTable } from './table.ts';

type Functions = Readonly<Record<string, (...args: never[]) => unknown>>;

const { ceil, floor, max, min, abs } = math as Math;

/** The functions of Lua that the scripts use, on known and unknown values. */
export const library: Readonly<Record<string, unknown>> = {
  type: (value: unknown) =>
    isSymbolic(value) || typeof value === 'number' ? 'number' : value instanceof LuaTable ? 'table' : typeof value,
  unpack: (table: LuaTable) => new Values(...table.values),
  math: {
    ceil: (value: unknown) =>
      value instanceof Term ? new Term(`ceil(${value.text})`, value.level) : ceil(value as number),
    floor: (value: unknown) =>
      value instanceof Term ? new Term(`floor(${value.text})`, value.level) : floor(value as number),
    max,
    min,
    abs,
    huge: Infinity,
    frexp,
    ldexp: (fraction: unknown, exponent: unknown) =>
      typeof fraction === 'number' && typeof exponent === 'number'
        ? fraction * 2 ** exponent
        : writtenLevel(fraction, exponent),
  } satisfies Readonly<Record<string, unknown>>,
  string: {
    byte: (text: unknown) => (typeof text === 'number' || isSymbolic(text) ? undefined : String(text).codePointAt(0)),
    find,
    sub,
    format,
  } satisfies Functions,
};

function frexp(value: unknown): Values {
  if (typeof value !== 'number') return new Values(new Term('F', value), new Term('E', value));
  if (!Number.isFinite(value)) return new Values(value, 0);
  let [fraction, exponent] = [value, 0];
  while (fraction >= 1) [fraction, exponent] = [fraction / 2, exponent + 1];
  while (fraction > 0 && fraction < 0.5) [fraction, exponent] = [fraction * 2, exponent - 1];
  return new Values(fraction, exponent);
}

const BUCKET_PATTERN = '^-?%d%d%d%d+$';

function find(text: unknown, pattern: string): unknown {
  if (text instanceof BucketText && pattern === BUCKET_PATTERN) return 1;
  if (typeof text !== 'string') throw new TypeError(`find in ${String(text)}`);
  if (pattern !== BUCKET_PATTERN) return text.includes(pattern) ? 1 : undefined;
  return /^-?\d{4,}$/.test(text) ? 1 : undefined;
}

function sub(text: unknown, from: number, to?: number): unknown {
  if (text instanceof BucketText) {
    if (from === 1 && to === -4) return text.tat;
    if (from === -3 && to === undefined) return text.code;
    throw new Error(`The part ${from} to ${String(to)} of a bucket`);
  }
  const plain = text as string;
  return plain.slice(from < 0 ? from : from - 1, to === undefined ? undefined : to < 0 ? plain.length + to + 1 : to);
}

function format(pattern: string, ...values: readonly unknown[]): unknown {
  if (pattern === '%d' || pattern === '%.0f') return isSymbolic(values[0]) ? values[0] : whole(values[0]);
  if (pattern === '%d%03d' || pattern === '%.0f%03d') {
    const [tat, code] = values;
    if (code instanceof Term) return formattedBucket(tat, code);
    if (isSymbolic(tat)) return bucketText(tat, levelOfCode(Number(code)));
    return `${whole(tat)}${whole(code).padStart(3, '0')}`;
  }
  let next = 0;
  return pattern.replace(/%(?:d|\.0f)/g, () => whole(values[next++]));
}

function whole(value: unknown): string {
  return BigInt(Math.trunc(Number(value))).toString();
}
