// The room definitions/overrides: other numbers for some ids and networks.
import { complaint, listed, shown, shownName, SluiceError } from '../../checks/errors.ts';
import type { IdFormat } from '../../ids/id-format.ts';
import type { Limit, OverrideRate } from '../../limits/limit.ts';
import { entriesOf, isPlainObject, isTable } from '../../checks/options.ts';
import type { AnyOverride, EndingOverride } from './ending-override.ts';
import { LimitOverrides, type CurrentOverrides } from './limit-overrides.ts';
import { kindOfLimit, type AnyKind } from '../../kinds/kind.ts';
import { kindOf } from '../../kinds/limit-of-kind.ts';
import { isKey, type Key } from '../../keys/key.ts';
import type { Time } from '../../time/time.ts';
import { overrideRate, type Override } from './override.ts';
import { PlanRates } from './plan-numbers.ts';

/** A table of overrides by limit, then by id. */
export type OverrideTable = Readonly<Record<string, Readonly<Record<string, AnyOverride>>>>;

/** The limit of which an override changes the numbers, as it is defined: its key and its kind count. */
export interface OverriddenLimit {
  readonly key?: Key<never> | undefined;
}

/** What an override needs of its limit. */
interface OverriddenIds {
  readonly format: IdFormat;
  readonly kind: AnyKind;
}

let readOverrides: (list: OverrideList, limit: string) => LimitOverrides | undefined;
let addOverride: typeof addTo;

/** Adds an override for an id of a limit whose format and kind are known. A function, because a method would be public. */
export function addTo(list: OverrideList, limit: string, ids: OverriddenIds, text: string, given: AnyOverride): string {
  return addOverride(list, limit, ids, text, given);
}

/** Returns the overrides of a limit in a list. A function, because a method would be public. */
export function overridesOf(list: OverrideList, limit: string): LimitOverrides | undefined {
  return readOverrides(list, limit);
}

/**
 * A list of overrides that are validated as they are added. A limiter uses a list without validating its ids again. Use
 * it for large numbers of overrides, to add some at a time without blocking the event loop.
 *
 *     const overrides = new OverrideList();
 *     overrides.add('Orders', limits.Orders, '12345678', { count: 600, period: '180m' });
 *     limiter.replace({ limits, overrides });
 */
export class OverrideList {
  readonly #limits = new Map<string, LimitOverrides>();
  readonly #rates = new WeakMap<object, { readonly rate: OverrideRate; readonly kind: AnyKind }>();
  /** The numbers of the first plans of each kind. Most lists have few: the numbers of each are in memory once. */
  readonly #plans = new Map<AnyKind, PlanRates>();
  #sealed = false;

  static {
    readOverrides = (list, limit) => list.#limits.get(limit);
    addOverride = (list, limit, ids, text, override) => list.#add(limit, ids, text, override);
  }

  /** Whether the list is empty. */
  get isEmpty(): boolean {
    return this.#limits.size === 0;
  }

  /**
   * Adds an override for an id of a limit. If ids are addresses or networks, the id may be a wider network, for all ids
   * in it. The longest prefix wins, and an override for the id itself wins over those of networks.
   *
   * @param limit - The name of the limit.
   * @param of - The limit as it is defined: `limits.Orders`.
   * @param text - The id, in any spelling, or a network such as `10.20.0.0/16`.
   * @param override - The override. An object that is used for several ids is validated once.
   * @returns The canonical spelling of the id or network.
   * @throws {SluiceError} `ERR_OVERRIDE` for an id that is not valid in the format, or was added before, and when a
   * limiter already uses the list; `ERR_OPTION`, `ERR_DURATION` or `ERR_LIMIT` for invalid numbers.
   */
  add(limit: string, of: OverriddenLimit, text: string, override: AnyOverride): string {
    const kind = kindOf(`limits.${limit}`, of);
    const { key = kind.key } = of;
    if (!isKey(key)) throw withoutKey(limit, of);
    return this.#add(limit, { format: key.format, kind }, text, override);
  }

  #add(limit: string, { format, kind }: OverriddenIds, text: string, override: AnyOverride): string {
    if (this.#sealed) throw sealedList(limit, text);
    let overrides = this.#limits.get(limit);
    if (overrides === undefined) this.#limits.set(limit, (overrides = new LimitOverrides(limit, format, kind)));
    if (!haveSameIds(format, overrides.format)) throw otherFormat(limit, overrides.format, format);
    const ending = override as EndingOverride | null;
    if (!ending?.put) return overrides.add(text, this.#rate(limit, kind, text, override as Override));
    return ending.put(overrides, text, this.#rate(limit, kind, text, ending.override));
  }

  /** Makes the list immutable. A limiter calls it, because it has validated the list as a whole. */
  seal(): void {
    this.#sealed = true;
  }

  /**
   * Returns the override of an id; `undefined` for the limit's own numbers. Ends are by the clock of the limiter that was given
   * the list last.
   */
  rateOf(limit: string, id: string): OverrideRate | undefined {
    return this.#limits.get(limit)?.rateOf(id);
  }

  /**
   * Rejects overrides of unknown limits, of another kind than the limit, with ids in another format than the limit's, or
   * with numbers that its `atMost` does not allow. Overrides with an end follow the clock from then on.
   *
   * @returns The overrides by the name of their limit. They follow this clock also when the list follows another one later.
   * @throws {SluiceError} `ERR_OVERRIDE`, or `ERR_LIMIT` because of `atMost`.
   */
  checkLimits(limits: ReadonlyMap<string, Limit<never>>, time?: Time): ReadonlyMap<string, CurrentOverrides> {
    const current = new Map<string, CurrentOverrides>();
    for (const [name, overrides] of this.#limits) {
      const { format } = overrides;
      const limit = limitOf(name, limits);
      if (!haveSameIds(format, limit.key.format)) throw otherFormat(name, format, limit.key.format);
      overrides.checkKind(limit);
      overrides.ends?.follow(time, limit);
      if (limit.bounds.length > 0) overrides.checkAtMost(limit);
      current.set(name, overrides.current());
    }
    return current;
  }

  #rate(limit: string, kind: AnyKind, text: string, override: Override): OverrideRate {
    const check = (): OverrideRate => checkedRate(override, kind, () => `overrides.${limit}[${shown(text)}]`);
    if (!isPlainObject(override)) return check();
    const known = this.#rates.get(override);
    if (known?.kind === kind) return known.rate;
    let plans = this.#plans.get(kind);
    if (plans === undefined) this.#plans.set(kind, (plans = new PlanRates(kind)));
    const change = override as Exclude<Override, string>;
    const rate = plans.isFull ? check() : plans.rateOf(change, check);
    this.#rates.set(override, { rate, kind });
    return rate;
  }
}

/**
 * Creates a list from a table.
 *
 * @throws {SluiceError} `ERR_OPTION` when the value is not an object; `ERR_OVERRIDE` for an unknown limit; the errors
 * of {@link OverrideList.add}.
 */
export function listOverrides(table: OverrideTable, limits: ReadonlyMap<string, Limit<never>>): OverrideList {
  if (!isTable(table)) {
    const remedy = "For example overrides: { Orders: { '12345678': { count: 600, period: '180m' } } }.";
    throw complaint('ERR_OPTION', {
      option: 'overrides',
      demand: 'an object, an OverrideList or a function',
      value: table,
      remedy,
    });
  }
  const list = new OverrideList();
  for (const [name, overrides] of entriesOf('overrides', table)) {
    const limit = limitOf(name, limits);
    const ids = { format: limit.key.format, kind: kindOfLimit(limit) };
    if (!isTable(overrides)) {
      const demand = 'an object of numbers by id';
      const remedy = "For example { '12345678': { count: 600, period: '180m' } }.";
      throw complaint('ERR_OVERRIDE', { option: `overrides.${name}`, demand, value: overrides, remedy });
    }
    for (const [id, override] of entriesOf(`overrides.${name}`, overrides)) addTo(list, name, ids, id, override);
  }
  return list;
}

// Showing an id takes longer than checking numbers, so only an error has it.
function checkedRate(override: Override, kind: AnyKind, where: () => string): OverrideRate {
  try {
    return overrideRate('', override, kind);
  } catch {
    return overrideRate(where(), override, kind);
  }
}

function withoutKey(limit: string, value: unknown): SluiceError {
  return complaint('ERR_KEY', {
    option: 'OverrideList.add(limit, of)',
    demand: 'a limit with a key',
    value,
    remedy: `Pass the limit as it is defined: add('${shownName(limit)}', limits.${shownName(limit)}, id, …).`,
  });
}

function sealedList(limit: string, text: string): SluiceError {
  return new SluiceError(
    'ERR_OVERRIDE',
    `This list of overrides is in use by a limiter, so the id ${shown(text)} of limit "${shownName(limit)}" can't be added. Make a new OverrideList and pass it to limiter.replace().`,
  );
}

/** Whether two formats have the same ids. Formats of IPv6 ranges do only if their prefix lengths are equal. */
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
    `has ids of the format ${one}, but the key of the limit has ${other}. Use the same key for both.`,
    { path: `overrides.${limit}` },
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
    `is not the name of a limit. Overrides are listed by limit, then by id. Limits: ${listed(limits.keys())}.`,
    { path: `overrides.${name}` },
  );
}
