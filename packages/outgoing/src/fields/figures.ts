import { fieldOf, type FieldSource } from './field-source.ts';
import type { Lesson } from './lesson.ts';
import { waitIn } from './wait.ts';

const NUMBER = /^-?\d+(?:\.\d+)?$/;

/**
 * Reads how much is left. Of several numbers the smallest counts, since each may be the limit that denies next. Less than
 * nothing is nothing.
 */
export function amountIn(text: string | undefined): number | undefined {
  const amounts = (text ?? '').split(',').flatMap((part) => {
    const trimmed = part.trim();
    return NUMBER.test(trimmed) ? [Math.floor(Number(trimmed))] : [];
  });
  const least = Math.min(...amounts);
  return Number.isSafeInteger(least) || least < 0 ? Math.max(0, least) : undefined;
}

/** The names of the fields of one limit. */
export interface FigureNames {
  readonly limit: string;
  readonly remaining: string;
  /** The first of them that can be read counts. */
  readonly reset: readonly string[];
}

/** Reads a limit of which each figure has a field of its own. */
export function figuresIn(
  fields: FieldSource,
  names: FigureNames,
  what: Pick<Lesson, 'of' | 'unit'>,
  nowMs: number,
): readonly Lesson[] {
  const remaining = amountIn(fieldOf(fields, names.remaining));
  // A limit of 0 or −1 is how some providers write that there is none.
  if (remaining === undefined || amountIn(fieldOf(fields, names.limit)) === 0) return [];
  const waits = names.reset.map((name) => waitIn(fieldOf(fields, name), nowMs));
  return [{ ...what, remaining, waitMs: waits.find((wait) => wait !== undefined) }];
}
