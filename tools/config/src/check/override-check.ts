import { OverrideList, type IdFormat, type Override, type SluiceError } from '@sluice/core';
import { boundsOf, checkAtMost, checkKind, listed, overrideRate, shown, type OverrideRate } from '@sluice/core/kit';
import type { Problems } from '../nodes/problems.ts';
import { shownPosition, type Position } from '../nodes/position.ts';
import type { LimitRow } from '../shape/limits-shape.ts';
import type { OverrideRow } from '../shape/overrides-shape.ts';
import type { TimeSlice } from '../sources/time-slice.ts';
import type { Formats } from './formats.ts';
import type { PoolCheck } from './pool-check.ts';

/** At most this many numbers are kept: where almost all differ, keeping them takes longer than it saves. */
const KEPT_NUMBERS = 256;

/** The parts of an {@link OverrideCheck}. */
interface OverrideCheckParts {
  readonly formats: Formats;
  /** All limits; `undefined` if the defaults could not be read. */
  readonly limits: ReadonlyMap<string, LimitRow> | undefined;
  readonly pools: PoolCheck;
}

/** Validates the ids of overrides and adds them to a list. Keeps the position of each id, to report duplicates. */
export class OverrideCheck {
  readonly list: OverrideList = new OverrideList();
  readonly #formats: Formats;
  /** All limits; `undefined` if the defaults could not be read. */
  readonly #limits: ReadonlyMap<string, LimitRow> | undefined;
  readonly #pools: PoolCheck;
  readonly #problems: Problems;
  readonly #places = new Map<string, Map<string, Position>>();
  readonly #overrides = new Map<string, Override>();
  #entry = -1;
  #override: Override = 'unlimited';

  constructor({ formats, limits, pools }: OverrideCheckParts, problems: Problems) {
    this.#formats = formats;
    this.#limits = limits;
    this.#pools = pools;
    this.#problems = problems;
  }

  async take(row: OverrideRow, slice: TimeSlice): Promise<void> {
    const isNew = row.entry !== this.#entry;
    if (isNew) {
      this.#entry = row.entry;
      // Equal overrides share one object, so that their numbers are validated once. An override with wrong numbers
      // has already been reported; its ids are still validated, with any override.
      this.#override = this.#shared(row.override ?? 'unlimited');
    }
    if (row.limit === undefined) return;
    const format = this.#format(row.limit, row.at, isNew);
    if (format === undefined) return;
    if (isNew) this.#checkNumbers(row.limit, row);
    for (const [i, id] of row.ids.entries()) {
      this.#add(row.limit, format, id, row.places[i]!);
      if (slice.isOver) await slice.pass();
    }
  }

  /** Returns one object for equal numbers. */
  #shared(override: Override): Override {
    if (typeof override === 'string') return override;
    const numbers = JSON.stringify(override);
    const known = this.#overrides.get(numbers);
    if (known === undefined && this.#overrides.size < KEPT_NUMBERS) this.#overrides.set(numbers, override);
    return known ?? override;
  }

  /** Validates the numbers of an override together with those of its limit. */
  #checkNumbers(name: string, { override, at }: OverrideRow): void {
    const rate = override === undefined ? 'unlimited' : overrideRate(name, override);
    const problem = this.#problemOf(name, rate) ?? this.#pools.problemOf(name, rate);
    if (problem !== undefined) this.#problems.add(at, problem, name);
  }

  #problemOf(name: string, rate: OverrideRate): string | undefined {
    const { numbers } = this.#limits?.get(name) ?? {};
    if (numbers === undefined || typeof rate === 'string') return undefined;
    try {
      checkKind(name, rate, numbers);
      const bounds = boundsOf(`${name}.atMost`, numbers.options.atMost);
      checkAtMost(name, rate, { rate: numbers.rate, bounds, borrow: undefined });
      return undefined;
    } catch (error) {
      return (error as SluiceError).message;
    }
  }

  #format(limit: string, at: Position, isNew: boolean): IdFormat | undefined {
    const format = this.#formats.of(limit);
    const isUnknown = this.#limits !== undefined && !this.#limits.has(limit);
    const why = isUnknown ? this.#unknown(limit) : format;
    if (typeof why !== 'string') return why;
    if (isNew && why !== '') this.#problems.add(at, why, limit);
    return undefined;
  }

  #unknown(limit: string): string {
    return `\`${limit}\` is not the name of a limit. Limits: ${listed(this.#limits!.keys())}.`;
  }

  #add(limit: string, format: IdFormat, text: string, at: Position): void {
    let places = this.#places.get(limit);
    if (places === undefined) this.#places.set(limit, (places = new Map()));
    try {
      places.set(this.list.add(limit, format, text, this.#override), at);
    } catch (error) {
      const { cause, message } = error as SluiceError;
      // Only the error of an invalid id has a cause. Without one, the id is a duplicate.
      this.#problems.add(at, cause === undefined ? twice(limit, format, text, places) : message, limit);
    }
  }
}

function twice(limit: string, format: IdFormat, text: string, places: ReadonlyMap<string, Position>): string {
  const id = new OverrideList().add(limit, format, text, 'unlimited');
  const spelled = id === text ? '' : ` (which is ${shown(id)})`;
  const first = shownPosition(places.get(id)!);
  return `\`${limit}\` lists the id ${shown(text)}${spelled} twice, first at ${first}. Keep one of the two.`;
}
