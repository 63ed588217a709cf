import { adopted, type Awaitable } from './awaitable.ts';
import { complaint, SluiceError, shown } from './errors.ts';
import type { Notify } from './events.ts';
import type { Deadlines } from './failure/deadlines.ts';
import type { Limit } from './limits.ts';
import { checkOptions, isPlainObject } from './options.ts';
import { LIMIT_HINTS } from './peer-names.ts';
import { rateOf, type LimitNumbers, type Rate } from './rate.ts';

/** Other numbers for one id; `'unlimited'` lets the id through. */
export type Override = LimitNumbers | 'unlimited';

/** Overrides as data: by limit, then by id. */
export type OverrideTable = Readonly<Record<string, Readonly<Record<string, Override>>>>;

/**
 * Overrides that live elsewhere, such as plans in a database. Asked for every request, with the canonical id, so keep
 * what you have read for a while. `undefined` means the limit's own numbers. When it throws, gives nonsense or takes
 * longer than `overridesDeadlineMs`, the limit's own numbers hold and there is an `override-failed` event.
 */
export type OverrideFunction = (limit: string, id: string) => Awaitable<Override | undefined>;

/** Gives the numbers that hold for an id of a limit: an override's, or the limit's own. */
export type RateLookup = (limit: Limit<never>, id: string) => Awaitable<Rate | 'unlimited'>;

/** Listed overrides, checked: by limit, then by canonical id. */
export type OverrideRates = ReadonlyMap<string, ReadonlyMap<string, Rate | 'unlimited'>>;

const FIELDS = ['burst', 'count', 'period'] as const;

/**
 * Checks listed overrides and puts them on the time grid.
 *
 * @throws {SluiceError} `ERR_OVERRIDE` for a limit that is not defined, an id that is none of its limit's format, or
 * one that is listed in two spellings; what {@link rateOf} throws for bad numbers.
 */
export function defineOverrides(overrides: OverrideTable, limits: ReadonlyMap<string, Limit<never>>): OverrideRates {
  if (!isPlainObject(overrides)) {
    const remedy = "For example overrides: { Orders: { '12345678': { count: 600, period: '180m' } } }.";
    throw complaint('ERR_OPTION', { option: 'overrides', demand: 'an object or a function', value: overrides, remedy });
  }
  const tables = new Map<string, ReadonlyMap<string, Rate | 'unlimited'>>();
  for (const [name, table] of Object.entries(overrides)) {
    const limit = limits.get(name);
    if (limit === undefined) {
      const known = [...limits.keys()].join(', ');
      throw new SluiceError(
        'ERR_OVERRIDE',
        `\`overrides.${name}\` names no limit: overrides are listed by limit, then by id. Limits: ${known}.`,
      );
    }
    tables.set(name, defineTable(limit, table));
  }
  return tables;
}

function defineTable(limit: Limit<never>, table: Readonly<Record<string, Override>>): Map<string, Rate | 'unlimited'> {
  const where = `overrides.${limit.name}`;
  if (!isPlainObject(table))
    throw complaint('ERR_OVERRIDE', { option: where, demand: 'an object of numbers by id', value: table });
  const rates = new Map<string, Rate | 'unlimited'>();
  for (const [text, override] of Object.entries(table)) {
    const id = canonicalId(where, limit, text);
    if (rates.has(id))
      throw new SluiceError(
        'ERR_OVERRIDE',
        `\`${where}\` lists the id ${shown(id)} twice (the second time as ${shown(text)}).`,
      );
    rates.set(id, overrideRate(`${where}[${shown(text)}]`, override));
  }
  return rates;
}

function canonicalId(where: string, limit: Limit<never>, text: string): string {
  try {
    return limit.key.format.canonical(text);
  } catch (cause) {
    throw new SluiceError('ERR_OVERRIDE', `\`${where}\` lists the id ${shown(text)}: ${(cause as Error).message}`, {
      cause,
    });
  }
}

function overrideRate(where: string, override: Override): Rate | 'unlimited' {
  if (override === 'unlimited') return override;
  if (!isPlainObject(override)) {
    const demand = "numbers such as { burst: 300, count: 600, period: '180m' }, or 'unlimited'";
    throw complaint('ERR_OVERRIDE', { option: where, demand, value: override });
  }
  checkOptions(where, override, FIELDS, LIMIT_HINTS);
  return rateOf(where, override);
}

/** Looks up listed overrides. */
export function listedLookup(tables: OverrideRates): RateLookup {
  return (limit, id) => tables.get(limit.name)?.get(id) ?? limit.rate;
}

/** Asks the user's function, and stands in with the limit's own numbers when it fails. */
export class AskedOverrides {
  readonly #ask: OverrideFunction;
  readonly #deadlines: Deadlines;
  readonly #notify: Notify;
  // Plans are few: their numbers are put on the grid once. A function that makes up new ones each time can't fill it.
  readonly #rates = new Map<string, Rate | 'unlimited'>();

  constructor(ask: OverrideFunction, deadlines: Deadlines, notify: Notify) {
    this.#ask = ask;
    this.#deadlines = deadlines;
    this.#notify = notify;
  }

  /** Never throws and never rejects. */
  readonly rateFor: RateLookup = (limit, id) => {
    try {
      const answer = adopted(this.#ask(limit.name, id));
      if (!(answer instanceof Promise)) return this.#rateOf(limit, answer);
      const late = (): Error => new Error('the overrides function did not answer within its deadline');
      return this.#deadlines
        .race(answer, late)
        .then((override) => this.#rateOf(limit, override))
        .catch((cause: unknown) => this.#failed(limit, id, cause));
    } catch (cause) {
      return this.#failed(limit, id, cause);
    }
  };

  #rateOf(limit: Limit<never>, override: Override | undefined): Rate | 'unlimited' {
    if (override === undefined) return limit.rate;
    const name = JSON.stringify(override);
    let rate = this.#rates.get(name);
    if (rate === undefined) {
      rate = overrideRate(`overrides(${limit.name})`, override);
      if (this.#rates.size >= 1000) this.#rates.clear();
      this.#rates.set(name, rate);
    }
    return rate;
  }

  #failed(limit: Limit<never>, id: string, cause: unknown): Rate {
    this.#notify({
      type: 'override-failed',
      limit: limit.name,
      id,
      cause,
      message: `Sluice: no override for ${limit.name}: ${(cause as Error)?.message ?? shown(cause)}; its own numbers hold.`,
    });
    return limit.rate;
  }
}
