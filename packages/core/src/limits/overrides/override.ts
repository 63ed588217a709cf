import type { Awaitable } from '../../async/awaitable.ts';
import { complaint, messageOf, shown, shownName, shownText, SluiceError } from '../../checks/errors.ts';
import { checkAtMost, type Limit } from '../limit.ts';
import { concurrencyRateOf, SLOT_OPTIONS } from '../concurrency.ts';
import { QUOTA_OPTIONS } from '../quota.ts';
import { checkOptions, isPlainObject, type Hints } from '../../checks/options.ts';
import { LIMIT_HINTS } from '../../checks/peer-names.ts';
import { quotaRateOf, rateOf, type Counted, type LimitNumbers, type Rate } from '../../rule/rate.ts';
import { checkId, type IdFormat } from '../../ids/id-format.ts';
import {
  aboveCeiling,
  borrowChangeOf,
  borrowsNothing,
  isAtLeast,
  borrowAndMaxWait,
  type BorrowOverride,
} from '../borrowing.ts';
import { Cidr } from '../../ids/cidr.ts';
import { NetworkTree } from './network-tree.ts';

/** Other numbers for one id. */
export interface OverrideNumbers extends LimitNumbers {
  /** Another ceiling or weight, for an override of a limit that borrows. */
  readonly borrow?: BorrowOverride | undefined;
  readonly concurrency?: undefined;
}

/** Another count of a quota for one id. The calendar stays that of the limit. */
export interface QuotaOverride {
  /** How many tokens there are in each period, a whole number from 1 to 10⁹. */
  readonly count: number;
  readonly burst?: undefined;
  readonly period?: undefined;
  readonly maxDebt?: undefined;
  readonly maxWait?: undefined;
  readonly borrow?: undefined;
  readonly concurrency?: undefined;
}

/** Another number of slots of a concurrency limit for one id. */
export interface ConcurrencyOverride {
  /** How many requests of cost 1 may be in progress at the same time, a whole number from 1 to 1,000,000. */
  readonly concurrency: number;
  readonly count?: undefined;
  readonly burst?: undefined;
  readonly period?: undefined;
  readonly maxDebt?: undefined;
  readonly maxWait?: undefined;
  readonly borrow?: undefined;
}

/**
 * Other numbers for one id; `'unlimited'` lets the id through uncounted, `'blocked'` denies it always. The numbers must be
 * of the same kind as those of the limit: `count` and `period` for a rate, `count` alone for a quota, `concurrency` for a
 * concurrency limit.
 */
export type Override = OverrideNumbers | QuotaOverride | ConcurrencyOverride | 'unlimited' | 'blocked';

/** The numbers that apply to an id, in ticks, or `'unlimited'` or `'blocked'`. */
export type OverrideRate = Rate | 'unlimited' | 'blocked';

/**
 * Returns the numbers that apply to an id of a limit: those of an override, or the limit's own.
 *
 * @param request - The framework's request; `undefined` without HTTP.
 */
export type RateLookup = (limit: Limit<never>, id: string, request: unknown) => Awaitable<OverrideRate>;

const FIELDS = ['burst', 'count', 'period', 'maxDebt', 'maxWait', 'borrow', 'concurrency'] as const;
/** Names that are no options of an override, with what to write instead. */
export const OVERRIDE_HINTS: Hints = {
  ...LIMIT_HINTS,
  ...hintsOf(QUOTA_OPTIONS, 'an override of a quota changes its `count` alone'),
  ...hintsOf(SLOT_OPTIONS, 'an override of a concurrency limit changes its `concurrency` alone'),
};

function hintsOf(names: readonly string[], why: string): Hints {
  return Object.fromEntries(names.map((name) => [name, `\`${name}\` belongs to the limit: ${why}.`]));
}

/**
 * Validates an override and converts its numbers to ticks.
 *
 * @param where - The path of the override in error messages: `overrides.Orders['12345678']`.
 * @throws {SluiceError} `ERR_OVERRIDE` for an invalid override; the errors of {@link rateOf} for invalid numbers.
 */
export function overrideRate(where: string, override: Override): OverrideRate {
  if (override === 'unlimited' || override === 'blocked') return override;
  if (!isPlainObject(override)) {
    const demand = "numbers such as { burst: 300, count: 600, period: '180m' }, 'unlimited' or 'blocked'";
    throw complaint('ERR_OVERRIDE', { option: where, demand, value: override });
  }
  checkOptions(where, override, FIELDS, OVERRIDE_HINTS);
  if (hasOnly(override, 'concurrency')) return concurrencyRateOf(where, override as ConcurrencyOverride);
  if (hasOnly(override, 'count')) return quotaRateOf(where, override as QuotaOverride);
  const { borrow, ...numbers } = override as OverrideNumbers;
  if (numbers.concurrency !== undefined) throw mixedKinds(where);
  const rate = rateOf(where, numbers);
  return borrow === undefined ? rate : { ...rate, borrow: borrowChangeOf(`${where}.borrow`, rate, borrow) };
}

/** Totals of the overrides of a limit. A network counts as one. */
export class OverrideTotals {
  /** The sum of the rates, in tokens per millisecond. */
  perMs: number = 0;
  /** The sum of the bursts. */
  burst = 0;
  /** The sum of their own `maxDebt`. */
  debt = 0;
  /** How many overrides have the `maxDebt` of the limit. */
  withoutDebt = 0;
  /** The largest burst and the shortest interval of those without a ceiling of their own. */
  readonly largest: { burst: number; emissionIntervalTicks: number } = { burst: 0, emissionIntervalTicks: Infinity };
  /** Whether any of them has `borrow`. */
  borrows = false;
  /** Whether any of them has a `maxWait`. */
  waits = false;

  /** Adds the numbers of an override. */
  add({ count, periodMs, burst, emissionIntervalTicks, maxDebt, waitTicks, borrow }: Rate): void {
    this.perMs += count / periodMs;
    this.burst += burst;
    this.debt += maxDebt ?? 0;
    if (maxDebt === undefined) this.withoutDebt++;
    this.borrows ||= borrow !== undefined;
    this.waits ||= waitTicks !== undefined;
    if (borrow?.ceiling !== undefined) return;
    this.largest.burst = Math.max(this.largest.burst, burst);
    this.largest.emissionIntervalTicks = Math.min(this.largest.emissionIntervalTicks, emissionIntervalTicks);
  }
}

/** Whether an override has only one option, which shows its kind. */
function hasOnly(override: Exclude<Override, string>, option: (typeof FIELDS)[number]): boolean {
  return FIELDS.every((name) => (override[name] !== undefined) === (name === option));
}

function mixedKinds(where: string): SluiceError {
  const message = 'must have `concurrency` alone, or `count` and `period`. For example { concurrency: 20 }.';
  return new SluiceError('ERR_OVERRIDE', `\`${shownText(where, 300)}\` ${message}`);
}

/**
 * Rejects the numbers of an override that are of another kind than those of its limit.
 *
 * @param where - The path of the override in error messages.
 * @throws {SluiceError} `ERR_OVERRIDE`.
 */
export function checkKind(where: string, rate: OverrideRate, limit: Pick<Limit<never>, 'rate'>): void {
  if (typeof rate !== 'string' && rate.counts !== limit.rate.counts) throw otherKind(where, limit);
}

const NUMBERS: Readonly<Record<Counted | 'rate', string>> = {
  rate: "`count` and `period`, because the limit is a rate. For example { count: 600, period: '180m' }",
  quota: '`count` alone, because the limit is a quota. For example { count: 50000 }',
  slots: '`concurrency` alone, because it is a concurrency limit. For example { concurrency: 20 }',
  load: "no numbers, because it is a load limit: an override of it is 'unlimited' or 'blocked'",
};

function otherKind(where: string, { rate }: Pick<Limit<never>, 'rate'>): SluiceError {
  return new SluiceError('ERR_OVERRIDE', `\`${shownText(where, 300)}\` must have ${NUMBERS[rate.counts ?? 'rate']}.`);
}

/**
 * Rejects overrides that contradict the `borrow` of their limit.
 *
 * @throws {SluiceError} `ERR_OVERRIDE`, and `ERR_LIMIT` for a `maxWait`.
 */
export function checkBorrowing({ name, borrow }: Pick<Limit<never>, 'name' | 'borrow'>, totals: OverrideTotals): void {
  if (borrow === undefined && totals.borrows) throw borrowsNothing(name);
  if (borrow === undefined) return;
  if (totals.waits) throw borrowAndMaxWait(`overrides.${name}`);
  if (!isAtLeast(borrow.ceiling, totals.largest)) throw aboveCeiling(name, borrow.ceiling);
}

/** The overrides of one limit, by id and by network. */
export class LimitOverrides {
  readonly format: IdFormat;
  readonly totals: OverrideTotals = new OverrideTotals();
  readonly #limit: string;
  readonly #where: string;
  readonly #ids = new Map<string, OverrideRate>();
  #networks: NetworkTree<OverrideRate> | undefined;
  #smallestBurst = Infinity;
  /** The first id with numbers of each kind. */
  readonly #firstOfKind = new Map<Rate['counts'], { readonly text: string; readonly rate: Rate }>();

  constructor(limit: string, format: IdFormat) {
    this.format = format;
    this.#limit = limit;
    this.#where = `overrides.${limit}`;
  }

  /** The overrides of single ids. */
  get ids(): ReadonlyMap<string, OverrideRate> {
    return this.#ids;
  }

  /** The overrides of networks. */
  get networks(): NetworkTree<OverrideRate> | undefined {
    return this.#networks;
  }

  /** The smallest burst of all overrides; `Infinity` when there is none. Unlimited and blocked ids have no burst. */
  get smallestBurst(): number {
    return this.#smallestBurst;
  }

  /**
   * Adds an id, or a network of ids.
   *
   * @returns Its canonical spelling.
   * @throws {SluiceError} `ERR_OVERRIDE` when it is not valid in the limit's format, or was added before.
   */
  add(text: string, rate: OverrideRate): string {
    const id = this.#read(text);
    const canonical = typeof id === 'string' ? id : id.text;
    const before = typeof id === 'string' ? this.#ids.get(id) : this.#networks?.get(id);
    if (before !== undefined) throw this.#twice(canonical, text);
    if (typeof id === 'string') this.#ids.set(id, rate);
    else (this.#networks ??= new NetworkTree()).set(id, rate);
    if (typeof rate !== 'string') this.#note(text, rate);
    return canonical;
  }

  /**
   * Rejects overrides of another kind than their limit.
   *
   * @throws {SluiceError} `ERR_OVERRIDE`.
   */
  checkKind(limit: Limit<never>): void {
    const other = [...this.#firstOfKind.values()].find(({ rate }) => rate.counts !== limit.rate.counts);
    if (other !== undefined) checkKind(`${this.#where}[${shown(other.text)}]`, other.rate, limit);
  }

  /** Returns the override of an id: its own, otherwise that of the smallest network that contains it. */
  rateOf(id: string): OverrideRate | undefined {
    return this.#ids.get(id) ?? this.#networks?.lookUp(id);
  }

  /**
   * Rejects numbers that `atMost` of the limit does not allow. Unlimited ids are left out.
   *
   * @throws {SluiceError} `ERR_LIMIT`.
   */
  checkAtMost(limit: Limit<never>): void {
    for (const [id, rate] of this.#ids) {
      if (typeof rate !== 'string') checkAtMost(`${this.#where}[${shown(id)}]`, rate, limit);
    }
    for (const [rate] of this.#networks?.beside(undefined) ?? []) {
      if (typeof rate !== 'string') checkAtMost(`${this.#where} (of a network)`, rate, limit);
    }
  }

  /** The numbers of ids and networks. Unlimited and blocked ones are left out. */
  *rates(): Generator<Rate, void> {
    for (const rate of this.#ids.values()) if (typeof rate !== 'string') yield rate;
    for (const [rate] of this.#networks?.beside(undefined) ?? []) if (typeof rate !== 'string') yield rate;
  }

  #note(text: string, rate: Rate): void {
    this.#smallestBurst = Math.min(this.#smallestBurst, rate.burst);
    this.totals.add(rate);
    if (!this.#firstOfKind.has(rate.counts)) this.#firstOfKind.set(rate.counts, { text, rate });
  }

  #read(text: string): string | Cidr {
    try {
      const id = idOrNetwork(this.format, text);
      if (!(id instanceof Cidr)) checkId(this.#limit, id);
      return id;
    } catch (cause) {
      throw new SluiceError(
        'ERR_OVERRIDE',
        `\`${shownName(this.#where)}\` lists the id ${shown(text)}: ${messageOf(cause)}`,
        {
          cause,
        },
      );
    }
  }

  #twice(id: string, text: string): SluiceError {
    const again = id === text ? '' : ` (the second time as ${shown(text)})`;
    return new SluiceError(
      'ERR_OVERRIDE',
      `\`${shownName(this.#where)}\` lists the id ${shown(id)} twice${again}. Keep one of the two.`,
    );
  }
}

/** Parses a network that is wider than an id of the format, or an id. */
function idOrNetwork(format: IdFormat, text: string): string | Cidr {
  const { prefixLengths } = format;
  if (prefixLengths === undefined || !text.includes('/')) return format.canonical(text);
  const size = Cidr.sizeOf(text);
  if (size === undefined) return Cidr.parse(text, 'id');
  const ofIds = size.family === 4 ? prefixLengths.ipv4 : prefixLengths.ipv6;
  if (ofIds !== undefined && size.prefixLength < ofIds) return Cidr.parse(text, 'id');
  return size.prefixLength === ofIds && ofIds === (size.family === 4 ? 32 : 128)
    ? addressOrRange(format, text)
    : format.canonical(text);
}

/**
 * Accepts a single address in the notation of a network, `203.0.113.7/32`, as firewalls use it. For ranges of one
 * address this notation is the canonical one.
 */
function addressOrRange(format: IdFormat, text: string): string {
  try {
    return format.canonical(text);
  } catch {
    return format.canonical(text.slice(0, text.indexOf('/')));
  }
}
