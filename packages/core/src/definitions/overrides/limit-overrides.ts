import { messageOf, shown, SluiceError } from '../../checks/errors.ts';
import { kindOfLimit, type AnyKind, type CountedNumbers } from '../../kinds/kind.ts';
import { checkAtMost } from '../../kinds/rate/rate.ts';
import type { Limit, OverrideRate } from '../../limits/limit.ts';
import type { Numbers } from '../../rule/rate.ts';
import { checkId, type IdFormat } from '../../ids/id-format.ts';
import { Cidr } from '../../ids/cidr.ts';
import { IpAddress } from '../../ids/ip-address.ts';
import { FirstParts, FirstPartsMap } from './first-parts.ts';
import type { Now, OverrideEnds } from './override-ends.ts';
import { withValue, type IdValues } from './id-table.ts';
import { NetworkMap } from './network-map.ts';
import { wrongNumbers } from './override.ts';

/** What an override is listed for: an id, or a network or the first parts of ids. */
type Listed = string | Cidr | FirstParts;
const asIs = <Value>(value: Value): Value => value;

/** The overrides of one limit by the clock and in the time zone of one limiter. */
export interface CurrentOverrides {
  readonly all: LimitOverrides;
  /** See {@link LimitOverrides.rateOf}. */
  rateOf(id: string): OverrideRate | undefined;
  /** The different numbers of those that have not ended. Unlimited and blocked ids are left out. */
  numbers(): Iterable<CountedNumbers>;
}

interface ListedNumbers extends CountedNumbers {
  /** What is listed with them first. */
  readonly text: string;
  count: number;
}

/** The overrides of one limit, by id, by network and by the first parts of ids. */
export class LimitOverrides {
  readonly format: IdFormat;
  readonly #limit: string;
  readonly #where: string;
  #ids: IdValues<OverrideRate> = new Map();
  /** The different numbers, by what the tables keep of them: with another end they are others. */
  readonly #different = new Map<OverrideRate, ListedNumbers>();
  #networks: NetworkMap<OverrideRate> | undefined;
  #firstParts: FirstPartsMap<OverrideRate> | undefined;
  /** Whether an override has a queue of its own. Only this class changes it. */
  canWait = false;
  /** Those with an end; undefined if there is none. */
  ends: OverrideEnds | undefined;
  readonly #kind: AnyKind;

  constructor(limit: string, format: IdFormat, kind: AnyKind) {
    this.format = format;
    this.#kind = kind;
    this.#limit = limit;
    this.#where = `overrides.${limit}`;
  }

  /**
   * Adds an id, or a network or first parts of ids.
   *
   * @param listed - What {@link ends} reads the numbers from, if they have an end.
   * @returns Its canonical spelling.
   * @throws {SluiceError} `ERR_OVERRIDE` when it is not valid in the limit's format, or was added before.
   */
  add(text: string, rate: OverrideRate, listed: OverrideRate = rate): string {
    const id = this.#read(text);
    const canonical = typeof id === 'string' ? id : id.text;
    if (this.#get(id)) throw this.#twice(canonical, text);
    this.#set(id, listed);
    if (typeof rate !== 'string') this.#note(text, rate, listed);
    return canonical;
  }

  /**
   * Rejects overrides of another kind than their limit, a count that is too large for its kind, and what contradicts the limit.
   *
   * @throws {SluiceError} `ERR_OVERRIDE`, or `ERR_OPTION` for a count.
   */
  checkKind(limit: Limit<never>): void {
    const kind = kindOfLimit(limit);
    // To show an id takes longer than to check its numbers.
    if (this.#kind !== kind || kind.override?.check !== undefined)
      for (const { rate, text } of this.#different.values()) {
        if (this.#kind !== kind) throw wrongNumbers(this.#pathOf(text), kind);
        kind.override?.check?.(this.#pathOf(text), rate, limit);
      }
    kind.links?.checkOverrides(limit, this.#different.values());
  }

  /**
   * Returns the override of an id: its own, otherwise that of the smallest network that contains it, or of the most parts
   * that it begins with.
   */
  rateOf(id: string, now: Now<OverrideRate> = this.ends?.now ?? asIs): OverrideRate | undefined {
    const own = this.#ids.get(id);
    return (now === asIs ? own : now(own)) ?? this.#networks?.lookUp(id, now) ?? this.#firstParts?.lookUp(id, now);
  }

  /** Returns the overrides by the present clock and time zone, which other limiters with this list may replace. */
  current(): CurrentOverrides {
    const now = this.ends?.now ?? asIs;
    return { all: this, rateOf: (id) => this.rateOf(id, now), numbers: () => this.#numbers(now) };
  }

  /**
   * Returns what {@link rateOf} finds the override of an id by: the id, a network, or its first parts. Undefined if there
   * is none. With a `now` that returns each value as it is, those that have ended are found, too.
   */
  listedFor(id: string, now: Now<OverrideRate> = this.ends?.now ?? asIs): string | undefined {
    if (now(this.#ids.get(id))) return id;
    const prefixLength = this.#networks?.prefixLengthFor(id, now);
    if (prefixLength === undefined) return this.#firstParts?.listedFor(id, now);
    const [address = ''] = id.split('/');
    return IpAddress.parse(address)!.network(prefixLength);
  }

  /**
   * Rejects numbers that `atMost` of the limit does not allow. Unlimited ids are left out.
   *
   * @throws {SluiceError} `ERR_LIMIT`.
   */
  checkAtMost(limit: Limit<never>): void {
    for (const { rate, text } of this.#different.values()) checkAtMost(this.#pathOf(text), rate, limit);
  }

  *#numbers(now: Now<OverrideRate>): Iterable<CountedNumbers> {
    for (const [listed, numbers] of this.#different) if (now(listed)) yield numbers;
  }

  #pathOf(text: string): string {
    return `${this.#where}[${shown(text)}]`;
  }

  #get(listed: Listed): OverrideRate | undefined {
    if (typeof listed === 'string') return this.#ids.get(listed);
    return listed instanceof Cidr ? this.#networks?.get(listed) : this.#firstParts?.get(listed);
  }

  #set(listed: Listed, rate: OverrideRate): void {
    if (typeof listed === 'string') this.#ids = withValue(this.#ids, listed, rate);
    else if (listed instanceof Cidr) (this.#networks ??= new NetworkMap()).set(listed, rate);
    else (this.#firstParts ??= new FirstPartsMap()).set(listed, rate);
  }

  #note(text: string, rate: Numbers, listed: OverrideRate): void {
    this.canWait ||= rate.waitTicks !== undefined;
    const known = this.#different.get(listed);
    if (known === undefined) this.#different.set(listed, { rate, text, count: 1 });
    else known.count++;
  }

  #read(text: string): Listed {
    try {
      const firstParts = this.format.firstParts?.(text);
      const id = firstParts === undefined ? idOrNetwork(this.format, text) : new FirstParts(firstParts);
      if (!(id instanceof Cidr)) checkId(this.#limit, typeof id === 'object' ? id.text : id);
      return id;
    } catch (cause) {
      throw new SluiceError('ERR_OVERRIDE', `lists the id ${shown(text)}: ${messageOf(cause)}`, {
        cause,
        path: this.#where,
      });
    }
  }

  #twice(id: string, text: string): SluiceError {
    const again = id === text ? '' : ` (the second time as ${shown(text)})`;
    return new SluiceError('ERR_OVERRIDE', `lists the id ${shown(id)} twice${again}. Keep one of the two.`, {
      path: this.#where,
    });
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
