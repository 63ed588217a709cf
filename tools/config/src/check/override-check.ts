import { OverrideList, type IdFormat, type Override, type SluiceError } from '@sluice/core';
import {
  addTo,
  checkAtMost,
  listed,
  overrideRate,
  shown,
  type AnyKind,
  type LimitParts,
  type OverrideRate,
} from '@sluice/core/kit';
import type { Problems } from '../nodes/problems.ts';
import { shownPosition, type Position } from '../nodes/position.ts';
import { kindWith } from '../shape/kinds.ts';
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
  /** What the kinds have made of the limits. */
  readonly #parts = new Map<string, LimitParts>();
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
    const rate = override === undefined ? 'unlimited' : this.#rateOf(name, override);
    const problem = typeof rate === 'object' && 'message' in rate ? rate.message : this.#pools.problemOf(name, rate);
    if (problem !== undefined) this.#problems.add(at, problem, name);
    // Its ids are validated all the same.
    if (problem !== undefined || this.#limits?.get(name)?.numbers === undefined) this.#override = 'unlimited';
  }

  /** Returns the numbers of an override in ticks, or what is wrong with them. */
  #rateOf(name: string, override: Override): OverrideRate | Pick<SluiceError, 'message'> {
    const { numbers } = this.#limits?.get(name) ?? {};
    // The numbers were validated by the kind that they show.
    if (numbers === undefined || typeof override === 'string') return 'unlimited';
    const kind = kindWith(numbers.mark);
    try {
      const rate = overrideRate(name, override, kind);
      if (typeof rate === 'string') return rate;
      const limit = this.#defined(name, kind, numbers.options);
      kind.override?.check?.(name, rate, { rate: numbers.rate, calendar: limit.calendar });
      checkAtMost(name, rate, { ...limit, kind });
      return rate;
    } catch (error) {
      return error as SluiceError;
    }
  }

  /** Returns the limit as its kind defines it. */
  #defined(name: string, kind: AnyKind, options: object): LimitParts {
    let parts = this.#parts.get(name);
    if (parts === undefined) this.#parts.set(name, (parts = kind.define(options as never, { where: name, name })));
    return parts;
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
      const kind = kindWith(this.#limits?.get(limit)?.numbers?.mark);
      places.set(addTo(this.list, limit, { format, kind }, text, this.#override), at);
    } catch (error) {
      const { cause, message } = error as SluiceError;
      // Only the error of an invalid id has a cause. Without one, the id is a duplicate.
      this.#problems.add(at, cause === undefined ? twice(limit, format, text, places) : message, limit);
    }
  }
}

function twice(limit: string, format: IdFormat, text: string, places: ReadonlyMap<string, Position>): string {
  const id = addTo(new OverrideList(), limit, { format, kind: kindWith(undefined) }, text, 'unlimited');
  const spelled = id === text ? '' : ` (which is ${shown(id)})`;
  const first = shownPosition(places.get(id)!);
  return `\`${limit}\` lists the id ${shown(text)}${spelled} twice, first at ${first}. Keep one of the two.`;
}
