import { eventLoop, type LimitDefinition, type LoadOptions, type Override } from '@sluice/core';
import {
  kindOf,
  kindOfOverride,
  loadKind,
  NUMBER_ROWS,
  overrideRate,
  rateKind,
  type AnyKind,
  type Rate,
} from '@sluice/core/kit';
import { borrowChange } from './borrow-shape.ts';
import { FIELDS_OF_KINDS, fieldsOfKind, OVERRIDE_KIND_FIELDS, OVERRIDE_NUMBERS } from './definition.ts';
import type { Fields } from './fields.ts';
import { loadOf } from './load-shape.ts';
import { fieldsOf } from './row-field.ts';

/** The numbers of a limit of a file, of the kind that they show. */
export interface NumbersRow {
  /** As in code, without `atMost`, `borrow` and `load`. */
  readonly numbers: Partial<LimitDefinition>;
  readonly rate: Rate;
  /** The options of the load; undefined for limits of other kinds. A source of loads can't be passed from a thread. */
  readonly load?: LoadOptions;
}

const KIND_NAMES = Object.keys(FIELDS_OF_KINDS);
const NUMBER_FIELDS = fieldsOf(NUMBER_ROWS);

/** Returns the kind of a limit; `undefined`, with a problem, if it has fields of two kinds. */
export function kindIn(fields: Fields): AnyKind | undefined {
  return fields.checked(() => kindOf(fields.where, fields.given(KIND_NAMES)));
}

/**
 * Validates the numbers of a limit. Their combination is validated as in code.
 *
 * @param kind - Undefined for fields of two kinds: each of them is still validated as far as possible.
 * @returns `undefined` if they are wrong.
 */
export function numbersIn(fields: Fields, kind: AnyKind | undefined): NumbersRow | undefined {
  if (kind === undefined) return void fields.values(FIELDS_OF_KINDS);
  if (kind === rateKind) return fields.numbers(NUMBER_FIELDS);
  if (kind === loadKind) return loadNumbers(fields);
  const { ok, values } = fields.values(fieldsOfKind(kind));
  // A wrong value of the field that shows the kind has been reported. Without it, the others would show another kind.
  if (!Object.hasOwn(values, kind.mark!)) return undefined;
  const rate = definedRate(fields, kind, values);
  return ok && rate !== undefined ? { numbers: values, rate } : undefined;
}

function loadNumbers(fields: Fields): NumbersRow | undefined {
  const load = loadOf(fields);
  const rate = definedRate(fields, loadKind, { load: eventLoop(), hidden: fields.has('hidden') || undefined });
  return load && rate && { numbers: {}, rate, load };
}

function definedRate(fields: Fields, kind: AnyKind, values: object): Rate | undefined {
  const { where } = fields;
  return fields.checked(() => kind.define(values as never, { where, name: where }).rate);
}

/** Validates the numbers of an override. Returns `undefined` if they are wrong. */
export function overrideNumbers(fields: Fields): Override | undefined {
  const kind = kindOfOverride(Object.keys(OVERRIDE_NUMBERS).filter((name) => fields.has(name)));
  if (kind !== rateKind) {
    const { ok, values } = fields.values({ ...OVERRIDE_NUMBERS, ...OVERRIDE_KIND_FIELDS.get(kind) });
    const override = values as unknown as Override;
    return ok && fields.checked(() => overrideRate(fields.where, override)) ? override : undefined;
  }
  const row = fields.numbers(NUMBER_FIELDS);
  const borrow = borrowChange(fields, row?.rate);
  if (!fields.has('borrow')) return row?.numbers;
  return row && borrow && { ...row.numbers, borrow };
}
