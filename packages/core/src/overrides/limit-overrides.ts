import { SluiceError, shown } from '../errors.ts';
import { Cidr } from '../ids/cidr.ts';
import type { IdFormat } from '../ids/id-format.ts';
import { NetworkTree } from './network-tree.ts';
import type { OverrideRate } from './override.ts';

/** The overrides of one limit: by id, and by networks of ids. */
export class LimitOverrides {
  readonly format: IdFormat;
  readonly #where: string;
  readonly #ids = new Map<string, OverrideRate>();
  #networks: NetworkTree<OverrideRate> | undefined;
  #smallestBurst = Infinity;

  constructor(limit: string, format: IdFormat) {
    this.format = format;
    this.#where = `overrides.${limit}`;
  }

  /** The smallest burst of all, `Infinity` when every one is unlimited. */
  get smallestBurst(): number {
    return this.#smallestBurst;
  }

  /**
   * Adds an id, or a network of ids.
   *
   * @returns The one spelling of it.
   * @throws {SluiceError} `ERR_OVERRIDE` when it is none of the limit's format, or was added before.
   */
  add(text: string, rate: OverrideRate): string {
    const id = this.#read(text);
    const canonical = typeof id === 'string' ? id : id.text;
    const before = typeof id === 'string' ? this.#ids.get(id) : this.#networks?.get(id);
    if (before !== undefined) throw this.#twice(canonical, text);
    if (typeof id === 'string') this.#ids.set(id, rate);
    else (this.#networks ??= new NetworkTree()).set(id, rate);
    if (rate !== 'unlimited') this.#smallestBurst = Math.min(this.#smallestBurst, rate.burst);
    return canonical;
  }

  /** What holds for an id: what is said of it, else of the smallest network that it is in. */
  rateOf(id: string): OverrideRate | undefined {
    return this.#ids.get(id) ?? this.#networks?.lookUp(id);
  }

  #read(text: string): string | Cidr {
    try {
      return wideNetwork(this.format, text) ?? this.format.canonical(text);
    } catch (cause) {
      const reason = (cause as Error).message;
      throw new SluiceError('ERR_OVERRIDE', `\`${this.#where}\` lists the id ${shown(text)}: ${reason}`, { cause });
    }
  }

  #twice(id: string, text: string): SluiceError {
    const again = id === text ? '' : ` (the second time as ${shown(text)})`;
    return new SluiceError('ERR_OVERRIDE', `\`${this.#where}\` lists the id ${shown(id)} twice${again}.`);
  }
}

/** The network that a text names, when it is wider than an id of the format. */
function wideNetwork({ prefixLengths }: IdFormat, text: string): Cidr | undefined {
  if (prefixLengths === undefined) return undefined;
  const size = Cidr.sizeOf(text);
  if (size === undefined) return undefined;
  const ofIds = size.family === 4 ? prefixLengths.ipv4 : prefixLengths.ipv6;
  return ofIds !== undefined && size.prefixLength < ofIds ? Cidr.parse(text, 'id') : undefined;
}
