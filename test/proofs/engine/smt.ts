import type { Condition } from './condition.ts';
import { keyOf, type Sum } from './sum.ts';
import type { Unknown } from './unknown.ts';

/** A whole or real number in SMT-LIB. */
export function numeral(value: bigint): string {
  return value < 0n ? `(- ${-value})` : String(value);
}

/** The numerator of a sum in SMT-LIB. A product of unknowns is an unknown of its own there. */
export function sumText(sum: Sum): string {
  const terms = [...sum.terms.values()].map(({ factors, coefficient }) => {
    const name = symbol(keyOf(factors));
    return coefficient === 1n ? name : `(* ${numeral(coefficient)} ${name})`;
  });
  const parts = [...terms, numeral(sum.constant)];
  return parts.length === 1 ? parts[0]! : `(+ ${parts.join(' ')})`;
}

const texts = new WeakMap<Condition, string>();

export function conditionText(condition: Condition): string {
  const known = texts.get(condition) ?? textOf(condition);
  texts.set(condition, known);
  return known;
}

function textOf(condition: Condition): string {
  if ('parts' in condition) {
    const parts = condition.parts.map(conditionText).join(' ');
    return `(${condition.kind === 'all' ? 'and' : 'or'} ${parts})`;
  }
  const { kind, sum } = condition;
  const text = sumText(sum);
  return kind === '!=' ? `(not (= ${text} 0))` : `(${kind} ${text} 0)`;
}

export function symbol(name: string): string {
  return `|${name}|`;
}

/** Declares an unknown with its range. */
export function declared({ name, isWhole, min, max }: Unknown): string {
  const parts = [`(declare-const ${symbol(name)} ${isWhole ? 'Int' : 'Real'})`];
  if (min !== undefined) parts.push(`(assert (>= ${symbol(name)} ${numeral(min)}))`);
  if (max !== undefined) parts.push(`(assert (<= ${symbol(name)} ${numeral(max)}))`);
  return parts.join('');
}
