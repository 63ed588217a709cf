import { complaint, listed, shown, shownName, SluiceError } from '../../checks/errors.ts';
import type { IdFormat } from '../../ids/id-format.ts';
import type { Limit } from '../limit.ts';
import { entriesOf, isPlainObject } from '../../checks/options.ts';
import { LimitOverrides } from './limit-overrides.ts';
import { overrideRate, type Override, type OverrideRate } from './override.ts';

/** Overrides as data: by limit, then by id. */
export type OverrideTable = Readonly<Record<string, Readonly<Record<string, Override>>>>;

/**
 * Listed overrides, checked as they are added. A limiter takes a list as it is, without looking at its ids again: for
 * overrides so many that they are best added a few at a time.
 *
 *     const overrides = new OverrideList();
 *     overrides.add('Orders', accountId().format, '12345678', { count: 600, period: '180m' });
 *     limiter.replace({ limits, overrides });
 */
export class OverrideList {
  readonly #limits = new Map<string, LimitOverrides>();
  readonly #rates = new WeakMap<object, OverrideRate>();
  #sealed = false;

  /** Whether nothing was added. */
  get isEmpty(): boolean {
    return this.#limits.size === 0;
  }

  /**
   * Adds one id of a limit. Where ids are addresses or networks, a wider network is all ids in it: the longest prefix
   * holds, and an id of its own holds over all.
   *
   * @param format - The id format of the limit's key.
   * @param text - The id, in any spelling, or a network such as `10.20.0.0/16`.
   * @param override - The same object for several ids is checked once.
   * @returns The one spelling of the id or network.
   * @throws {SluiceError} `ERR_OVERRIDE` for an id that is none of the format, or was added before, and once a limiter
   * has the list; `ERR_OPTION`, `ERR_DURATION` or `ERR_LIMIT` for bad numbers.
   */
  add(limit: string, format: IdFormat, text: string, override: Override): string {
    if (this.#sealed) throw sealedList(limit, text);
    let overrides = this.#limits.get(limit);
    if (overrides === undefined) this.#limits.set(limit, (overrides = new LimitOverrides(limit, format)));
    if (!haveSameIds(format, overrides.format)) throw otherFormat(limit, overrides.format, format);
    return overrides.add(text, this.#rate(limit, text, override));
  }

  /** Ends the adding, as a limiter does that takes the list: what it goes by was checked as a whole. */
  seal(): void {
    this.#sealed = true;
  }

  /** What holds for an id of a limit; `undefined` for the limit's own numbers. */
  rateOf(limit: string, id: string): OverrideRate | undefined {
    return this.#limits.get(limit)?.rateOf(id);
  }

  /** The longest time that a bucket with an override takes to fill. */
  get longestToleranceTicks(): number {
    return Math.max(0, ...[...this.#limits.values()].map((overrides) => overrides.longestToleranceTicks));
  }

  /** The smallest burst that any id of a limit has. */
  smallestBurst(limit: Limit<never>): number {
    return Math.min(limit.rate.burst, this.#limits.get(limit.name)?.smallestBurst ?? Infinity);
  }

  /**
   * Refuses overrides of limits that there are not, or whose ids are of another format.
   *
   * @throws {SluiceError} `ERR_OVERRIDE`.
   */
  checkLimits(limits: ReadonlyMap<string, Limit<never>>): void {
    for (const [name, { format }] of this.#limits) {
      const { key } = limitOf(name, limits);
      if (!haveSameIds(format, key.format)) throw otherFormat(name, format, key.format);
    }
  }

  #rate(limit: string, text: string, override: Override): OverrideRate {
    const known = isPlainObject(override) ? this.#rates.get(override) : undefined;
    if (known !== undefined) return known;
    const rate = overrideRate(`overrides.${limit}[${shown(text)}]`, override);
    if (isPlainObject(override)) this.#rates.set(override, rate);
    return rate;
  }
}

/**
 * Makes a list of a table.
 *
 * @throws {SluiceError} `ERR_OPTION` when it is no table; `ERR_OVERRIDE` for a limit that is not defined, and what
 * {@link OverrideList.add} throws.
 */
export function listOverrides(table: OverrideTable, limits: ReadonlyMap<string, Limit<never>>): OverrideList {
  if (!isPlainObject(table)) {
    const remedy = "For example overrides: { Orders: { '12345678': { count: 600, period: '180m' } } }.";
    throw complaint('ERR_OPTION', { option: 'overrides', demand: 'an object or a function', value: table, remedy });
  }
  const list = new OverrideList();
  for (const [name, overrides] of entriesOf('overrides', table)) {
    const { format } = limitOf(name, limits).key;
    if (!isPlainObject(overrides)) {
      const demand = 'an object of numbers by id';
      const remedy = "For example { '12345678': { count: 600, period: '180m' } }.";
      throw complaint('ERR_OVERRIDE', { option: `overrides.${name}`, demand, value: overrides, remedy });
    }
    for (const [id, override] of entriesOf(`overrides.${name}`, overrides)) list.add(name, format, id, override);
  }
  return list;
}

function sealedList(limit: string, text: string): SluiceError {
  return new SluiceError(
    'ERR_OVERRIDE',
    `This list of overrides is in use by a limiter, so the id ${shown(text)} of limit "${shownName(limit)}" can't be added. Make a new OverrideList and pass it to limiter.replace().`,
  );
}

/** Whether two formats write ids alike. Ranges of IPv6 addresses do so only when they are of one size. */
function haveSameIds(one: IdFormat, other: IdFormat): boolean {
  if (one === other) return true;
  const [a, b] = [one.prefixLengths, other.prefixLengths];
  return one.name === other.name && a?.ipv4 === b?.ipv4 && a?.ipv6 === b?.ipv6;
}

function otherFormat(limit: string, added: IdFormat, wanted: IdFormat): SluiceError {
  const [one, other] = (added.name === wanted.name ? [sized(added), sized(wanted)] : [added.name, wanted.name]).map(
    shownName,
  );
  return new SluiceError(
    'ERR_OVERRIDE',
    `\`overrides.${shownName(limit)}\` has ids of the format ${one}, but the key of the limit has ${other}. Use the same key for both.`,
  );
}

function sized({ name, prefixLengths }: IdFormat): string {
  return `${name} (IPv6 /${prefixLengths?.ipv6})`;
}

function limitOf(name: string, limits: ReadonlyMap<string, Limit<never>>): Limit<never> {
  const limit = limits.get(name);
  if (limit !== undefined) return limit;
  throw new SluiceError(
    'ERR_OVERRIDE',
    `\`overrides.${shownName(name)}\` is not the name of a limit. Overrides are listed by limit, then by id. Limits: ${listed(limits.keys())}.`,
  );
}
