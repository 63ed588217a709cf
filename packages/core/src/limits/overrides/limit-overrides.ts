import { messageOf, shown, shownName, SluiceError } from '../../checks/errors.ts';
import { checkAtMost } from '../../kinds/rate/rate.ts';
import type { Limit } from '../limit.ts';
import type { Rate } from '../../rule/rate.ts';
import { checkId, type IdFormat } from '../../ids/id-format.ts';
import { Cidr } from '../../ids/cidr.ts';
import { IpAddress } from '../../ids/ip-address.ts';
import { NetworkTree } from './network-tree.ts';
import { checkKind, type OverrideRate } from './override.ts';
import { OverrideTotals } from './override-totals.ts';

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
  readonly #firstOfKind = new Map<string, { readonly text: string; readonly rate: Rate }>();

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
    const other = [...this.#firstOfKind.values()].find(({ rate }) => rate.kind.name !== limit.rate.kind.name);
    if (other !== undefined) checkKind(`${this.#where}[${shown(other.text)}]`, other.rate, limit);
  }

  /** Returns the override of an id: its own, otherwise that of the smallest network that contains it. */
  rateOf(id: string): OverrideRate | undefined {
    return this.#ids.get(id) ?? this.#networks?.lookUp(id);
  }

  /** Returns what {@link rateOf} finds the override of an id by: the id, or a network. Undefined if there is none. */
  listedFor(id: string): string | undefined {
    if (this.#ids.has(id) || this.#networks === undefined) return this.#ids.has(id) ? id : undefined;
    const [text = '', prefixLength] = id.split('/');
    const address = IpAddress.parse(text)!;
    // The tree keeps no texts, so it is asked for each size, the smallest network first.
    for (let bits = Number(prefixLength ?? (address.family === 4 ? 32 : 128)); bits >= 0; bits--) {
      const network = Cidr.parse(address.network(bits), 'id');
      if (this.#networks.get(network) !== undefined) return network.text;
    }
    return undefined;
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
    if (!this.#firstOfKind.has(rate.kind.name)) this.#firstOfKind.set(rate.kind.name, { text, rate });
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
