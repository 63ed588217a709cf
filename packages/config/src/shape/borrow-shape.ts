import type { BorrowDefinition, BorrowOverride, LimitNumbers } from '@sluice/core';
import { borrowChangeOf, borrowTermsOf, type Rate } from '@sluice/core/kit';
import type { Mapping } from '../nodes/node.ts';
import type { Position } from '../nodes/position.ts';
import { BORROW_CHANGE_FIELDS, BORROW_FIELDS, CEILING_FIELDS, OVERRIDE_NUMBERS, RATE_FIELDS } from './definition.ts';
import type { Fields } from './fields.ts';

/** How a limit of a file borrows. */
export interface BorrowRow {
  readonly definition: BorrowDefinition;
  /** Where the name of the pool is written. */
  readonly fromAt: Position;
}

/**
 * Validates `borrow` of a limit, without its pool.
 *
 * @param rate - The rate of the limit; `undefined` if it is wrong.
 * @returns `undefined` if it is missing or wrong.
 */
export function borrowOf(fields: Fields, rate: Rate | undefined): BorrowRow | undefined {
  const inner = fields.inner('borrow', RATE_FIELDS.borrow, Object.keys(BORROW_FIELDS));
  if (inner === undefined) return undefined;
  const { from: fromField, ceiling: ceilingField, ...others } = BORROW_FIELDS;
  const from = inner.needed('from', fromField) as string | undefined;
  const ceiling = ceilingOf(inner, inner.needed('ceiling', ceilingField));
  const { values } = inner.values(others);
  if (rate === undefined || from === undefined || ceiling === undefined) return undefined;
  const definition = { from, ceiling, ...values } as BorrowDefinition;
  const terms = inner.checked(() => borrowTermsOf(fields.where, rate, definition));
  return terms && { definition, fromAt: inner.node('from')!.at };
}

/** Validates `borrow` of an override. Returns `undefined` if it is missing or wrong. */
export function borrowChange(fields: Fields, rate: Rate | undefined): BorrowOverride | undefined {
  const inner = fields.inner('borrow', OVERRIDE_NUMBERS['borrow']!, Object.keys(BORROW_CHANGE_FIELDS));
  if (inner === undefined) return undefined;
  const { ceiling: ceilingField, ...others } = BORROW_CHANGE_FIELDS;
  const ceiling = ceilingOf(inner, inner.value('ceiling', ceilingField));
  const change: BorrowOverride = { ...(ceiling && { ceiling }), ...inner.values(others).values };
  if (rate === undefined) return undefined;
  return inner.checked(() => borrowChangeOf(inner.where, rate, change)) && change;
}

/** @param mapping - The node of the ceiling; `undefined` if it is missing or wrong. */
function ceilingOf(fields: Fields, mapping: unknown): LimitNumbers | undefined {
  if (mapping === undefined) return undefined;
  return fields
    .within(`${fields.where}.ceiling`, mapping as Mapping, Object.keys(CEILING_FIELDS))
    .numbers(CEILING_FIELDS)?.numbers;
}
