import type { LimitDefinition, LoadOptions, Override } from '@sluice/core';
import {
  checkLoadSettings,
  concurrencyOf,
  kindOf,
  LOAD_RATE,
  overrideRate,
  quotaOf,
  quotaRateOf,
  type LimitKind,
  type Rate,
} from '@sluice/core/kit';
import { borrowChange } from './borrow-shape.ts';
import { KIND_FIELDS, NUMBER_NAMES, OVERRIDE_KIND_FIELDS, OVERRIDE_NUMBERS } from './definition.ts';
import type { Field } from './field.ts';
import type { Fields } from './fields.ts';
import { loadOf } from './load-shape.ts';

/** The numbers of a limit of a file, of the kind that they show. */
export interface NumbersRow {
  /** As in code, without `atMost`, `borrow` and `load`. */
  readonly numbers: Partial<LimitDefinition>;
  readonly rate: Rate;
  /** The options of the load; undefined for limits of other kinds. A source of loads can't be passed from a thread. */
  readonly load?: LoadOptions;
}

const KIND_NAMES = [...new Set(Object.values(KIND_FIELDS).flatMap((fields) => Object.keys(fields)))];

/** Returns the kind of a limit; `undefined`, with a problem, if it has fields of two kinds. */
export function kindIn(fields: Fields): LimitKind | undefined {
  const given = KIND_NAMES.filter((name) => fields.has(name)).map((name) => [name, true] as const);
  return fields.checked(() => kindOf(fields.where, Object.fromEntries(given)), KIND_NAMES);
}

/**
 * Validates the numbers of a limit. Their combination is validated as in code.
 *
 * @param kind - Undefined for fields of two kinds: each of them is still validated as far as possible.
 * @returns `undefined` if they are wrong.
 */
export function numbersIn(fields: Fields, kind: LimitKind | undefined): NumbersRow | undefined {
  if (kind === undefined) {
    loadOf(fields);
    return void fields.values({ ...KIND_FIELDS.quota, ...KIND_FIELDS.concurrency, ...RATE });
  }
  if (kind === 'rate') return fields.numbers(KIND_FIELDS.rate);
  if (kind === 'load') return loadNumbers(fields);
  const table = KIND_FIELDS[kind];
  const { ok, values } = fields.values(table);
  // A wrong value of the field that shows the kind has been reported. Without it, the others would show another kind.
  if (!Object.hasOwn(values, kind === 'quota' ? 'per' : 'concurrency')) return undefined;
  const rate = fields.checked(() => RATES[kind](fields.where, values), Object.keys(table));
  return ok && rate !== undefined ? { numbers: values, rate } : undefined;
}

function loadNumbers(fields: Fields): NumbersRow | undefined {
  const load = loadOf(fields);
  const hidden = fields.has('hidden') || undefined;
  fields.checked(() => checkLoadSettings(fields.where, { hidden }), ['hidden']);
  return load && { numbers: {}, rate: LOAD_RATE, load };
}

const RATE: Readonly<Record<string, Field>> = Object.fromEntries(
  NUMBER_NAMES.map((name) => [name, KIND_FIELDS.rate[name]!]),
);

const RATES: Readonly<Record<Exclude<LimitKind, 'rate' | 'load'>, (where: string, values: object) => Rate>> = {
  quota(where, values) {
    quotaOf(where, where, values);
    return quotaRateOf(where, values as { count: number });
  },
  concurrency: (where, values) => concurrencyOf(where, values)!.rate,
};

/** Validates the numbers of an override. Returns `undefined` if they are wrong. */
export function overrideNumbers(fields: Fields): Override | undefined {
  if (!isRate(fields)) {
    const { ok, values } = fields.values(fields.has('concurrency') ? OVERRIDE_NUMBERS : OVERRIDE_KIND_FIELDS.quota);
    const override = values as unknown as Override;
    return ok && fields.checked(() => overrideRate(fields.where, override), Object.keys(values)) ? override : undefined;
  }
  const row = fields.numbers(OVERRIDE_KIND_FIELDS.rate);
  const borrow = borrowChange(fields, row?.rate);
  if (!fields.has('borrow')) return row?.numbers;
  return row && borrow && { ...row.numbers, borrow };
}

/** The kind of an override follows from its numbers: `count` alone is that of a quota. */
function isRate(fields: Fields): boolean {
  const given = Object.keys(OVERRIDE_NUMBERS).filter((name) => fields.has(name));
  return !given.includes('concurrency') && !(given.length === 1 && given[0] === 'count');
}
