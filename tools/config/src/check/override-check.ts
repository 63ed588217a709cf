import { OverrideList, type IdFormat, type Override, type SluiceError } from '@sluice/core';
import {
  addTo,
  checkAtMost,
  listed,
  overrideRate,
  shown,
  shownText,
  type AnyKind,
  type LimitParts,
  type OverrideRate,
} from '@sluice/core/kit';
import { until, type EndingOverride } from '@sluice/core/until';
import type { Problems } from '../nodes/problems.ts';
import { shownPosition, type Position } from '../nodes/position.ts';
import { kindWith } from '../shape/kinds.ts';
import type { LimitRow } from '../shape/limits-shape.ts';
import type { ListedId, OverrideRow } from '../shape/overrides-shape.ts';
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
  readonly overrides: IdText;
}

/** The ids of one limit that one text lists, with their positions. */
interface Places {
  readonly text: IdText;
  readonly positions: Map<string, Position>;
}

/** A text that lists ids: the overrides themselves, or a file that they name. */
export interface IdText {
  /** Its name in messages. */
  readonly label: string;
  readonly problems: Problems;
}

/** An override with an end. */
export interface FoundEnd {
  readonly limit: string;
  readonly at: Position;
  readonly until: string;
  /** The first millisecond of Unix time at which it no longer applies. */
  readonly endMs: number;
  /** In parts, as they are written. */
  readonly ids: (readonly string[])[];
}

/** Validates the ids of overrides and adds them to a list. Keeps the position of each id, to report duplicates. */
export class OverrideCheck {
  readonly list: OverrideList = new OverrideList();
  /** The overrides with an end. */
  readonly ends: FoundEnd[] = [];
  readonly #formats: Formats;
  /** All limits; `undefined` if the defaults could not be read. */
  readonly #limits: ReadonlyMap<string, LimitRow> | undefined;
  readonly #pools: PoolCheck;
  readonly #text: IdText;
  readonly #problems: Problems;
  readonly #places = new Map<string, Places[]>();
  readonly #overrides = new Map<string, Override>();
  /** What the kinds have made of the limits. */
  readonly #parts = new Map<string, LimitParts>();
  #entry = -1;
  #override: Override = 'unlimited';
  #ending: EndingOverride | undefined;

  constructor({ formats, limits, pools, overrides }: OverrideCheckParts) {
    this.#formats = formats;
    this.#limits = limits;
    this.#pools = pools;
    this.#text = overrides;
    this.#problems = overrides.problems;
  }

  /** @param text - What lists the ids of the row. */
  async take(row: OverrideRow, slice: TimeSlice, text: IdText = this.#text): Promise<void> {
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
    if (isNew) {
      this.#checkNumbers(row.limit, row);
      this.#noteEnd(row.limit, row);
    }
    if (this.#ending !== undefined) this.ends.at(-1)!.ids.push(row.ids);
    const places = this.#placesOf(row.limit, text);
    for (const [i, id] of row.ids.entries()) {
      this.#add(row.limit, format, { text: id, at: row.places[i]! }, places);
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

  #noteEnd(limit: string, { until: end, at }: OverrideRow): void {
    this.#ending = end === undefined ? undefined : until(end, this.#override);
    if (this.#ending === undefined) return;
    const { numbers } = this.#limits?.get(limit) ?? {};
    const periods = numbers && this.#defined(limit, kindWith(numbers.mark), numbers.options).periods;
    this.ends.push({ limit, at, until: end!, endMs: this.#ending.end.msIn(periods), ids: [] });
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
      kind.override?.check?.(name, rate, { rate: numbers.rate, periods: limit.periods });
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

  #placesOf(limit: string, text: IdText): Places {
    const all = this.#places.get(limit) ?? [];
    if (all.length === 0) this.#places.set(limit, all);
    const known = all.find((places) => places.text === text);
    if (known !== undefined) return known;
    const places = { text, positions: new Map() };
    all.push(places);
    return places;
  }

  #add(limit: string, format: IdFormat, { text: id, at }: ListedId, { text, positions }: Places): void {
    try {
      const kind = kindWith(this.#limits?.get(limit)?.numbers?.mark);
      positions.set(addTo(this.list, limit, { format, kind }, id, this.#ending ?? this.#override), at);
    } catch (error) {
      const { cause, message } = error as SluiceError;
      // Only the error of an invalid id has a cause. Without one, the id is a duplicate.
      text.problems.add(at, cause === undefined ? this.#twice(limit, format, id, text) : message, limit);
    }
  }

  #twice(limit: string, format: IdFormat, text: string, listing: IdText): string {
    const id = addTo(new OverrideList(), limit, { format, kind: kindWith(undefined) }, text, 'unlimited');
    const spelled = id === text ? '' : ` (which is ${shown(id)})`;
    const first = this.#places.get(limit)!.find(({ positions }) => positions.has(id))!;
    const file = first.text === listing ? '' : `${shownText(first.text.label, 400)}:`;
    const place = `${file}${shownPosition(first.positions.get(id)!)}`;
    return `\`${limit}\` lists the id ${shown(text)}${spelled} twice, first at ${place}. Keep one of the two.`;
  }
}
