import { everyone, by, type IdFormat, type LimitDefinition, type OverrideList, type SluiceError } from '@sluice/core';
import { BORROW, overriddenPool } from '@sluice/core/kinds';
import { defineLimits, kindOfLimit, overridesOf, type Limit, type OverrideRate } from '@sluice/core/kit';
import { eventLoop } from '@sluice/core/load';
import type { Problems } from '../nodes/problems.ts';
import { definitionOf, poolOf, type LimitRow } from '../shape/limits-shape.ts';
import type { Formats } from './formats.ts';

/** Validates the limits that borrow, with their pools. The rows must have no other problems. */
export class PoolCheck {
  readonly #rows: ReadonlyMap<string, LimitRow>;
  readonly #formats: Formats;
  readonly #pools: ReadonlySet<string>;
  /** Undefined if a limit has a problem. */
  readonly #limits: ReadonlyMap<string, Limit> | undefined;

  /** @param problems - The problems of the limits. */
  constructor(rows: ReadonlyMap<string, LimitRow>, formats: Formats, problems: Problems) {
    this.#rows = rows;
    this.#formats = formats;
    this.#pools = new Set([...rows.values()].flatMap(({ numbers }) => (numbers && poolOf(numbers)) ?? []));
    if (problems.count === 0) this.#limits = this.#defined();
  }

  /** Returns the problem of an override of a limit; `undefined` if it has none. */
  problemOf(limit: string, rate: OverrideRate): string | undefined {
    const defined = this.#limits?.get(limit);
    if (defined === undefined || (this.#pools.size === 0 && typeof rate === 'string')) return undefined;
    return errorOf(() => {
      if (this.#pools.has(limit)) throw overriddenPool(limit);
      if (typeof rate !== 'string') kindOfLimit(defined).links?.checkOverrides(defined, [{ rate, count: 1 }]);
    })?.message;
  }

  /**
   * Adds a problem of the limits if a pool is missing, can't be a pool, or has too low a rate. Do not call it if overrides
   * have problems, because their numbers are not known then.
   */
  finish(list: OverrideList, problems: Problems): void {
    const limits = this.#limits;
    if (limits === undefined || this.#pools.size === 0) return;
    this.#report(
      () => BORROW.links!.connected(limits, (limit) => overridesOf(list, limit)?.current().numbers()),
      problems,
    );
  }

  #report(check: () => unknown, problems: Problems): void {
    const error = errorOf(check);
    if (error === undefined) return;
    const { name, poolAt, countAt } = [...this.#rows.values()].find((row) => isIn(error, row))!;
    problems.add(error.path === `${name}.count` ? countAt : poolAt, error.message, name);
  }

  #defined(): ReadonlyMap<string, Limit> {
    const definitions = [...this.#rows.values()].map((row): [string, LimitDefinition] => {
      const key = by(String, { format: this.#formatOf(row.name) });
      return [row.name, definitionOf(row, { key }, eventLoop)];
    });
    return defineLimits(Object.fromEntries(definitions), 'local');
  }

  // Without code, the format of a limit may be unknown. It is then assumed to be that of a pool.
  #formatOf(limit: string): IdFormat {
    const format = this.#formats.of(limit);
    return typeof format === 'string' ? everyone().format : format;
  }
}

/** Returns a thrown error, with its path as in files: without `limits.` and `overrides.`. */
function errorOf(check: () => unknown): SluiceError | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    const { path } = error as SluiceError;
    return (error as SluiceError).withPath(path!.replace(/^(?:limits|overrides)\./, ''));
  }
}

function isIn({ path }: SluiceError, { name }: LimitRow): boolean {
  return path === `${name}.count` || path!.startsWith(`${name}.borrow`);
}
