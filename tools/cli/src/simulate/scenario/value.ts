import { isAlias, isMap, isScalar, isSeq, type Document } from 'yaml';
import { SluiceError } from '@sluice/core';
import { complaint, durationTicks, listed } from '@sluice/core/kit';
import { TICKS_PER_MICRO } from '@sluice/core/store';

/** A mistake in a scenario, with its place in the text. */
export class ScenarioError extends Error {
  /** In UTF-16 code units from the beginning of the text. */
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** The range of a number. */
export interface NumberRange {
  readonly min: number;
  readonly max: number;
  /** Whether fractions are allowed. Default: no. */
  readonly fractions?: boolean;
}

/** The longest time in a scenario. */
const LONGEST = { minMs: 0, maxMs: 366 * 86_400_000, demand: 'from 0s to 366 days' };

/** A value of a scenario, with its path and its place. Its methods throw a {@link ScenarioError} for another value. */
export class Value {
  /** Such as `clients.browser.arrivals[0].burst`. */
  readonly path: string;
  readonly offset: number;
  readonly #node: unknown;
  readonly #document: Document;

  /** @param offset - The place in messages if the value is missing. */
  constructor(document: Document, node: unknown, path: string, offset: number) {
    const range = (node as { range?: readonly number[] | null } | null)?.range;
    this.#document = document;
    this.#node = isAlias(node) ? node.resolve(document) : node;
    this.path = path;
    this.offset = range?.[0] ?? offset;
  }

  /** The first and the last offset of the value in the text. */
  get range(): readonly [start: number, end: number] {
    const { range } = this.#node as { range: readonly [number, number, number] };
    return [range[0], range[2]];
  }

  /** Returns the fields of a mapping, of which each name must be known. */
  fields(known: readonly string[]): ReadonlyMap<string, Value> {
    const fields = this.entries();
    for (const [name, { offset }] of fields) {
      if (known.includes(name)) continue;
      throw new ScenarioError(offset, `\`${this.#inside(name)}\` is unknown. The known fields are: ${listed(known)}.`);
    }
    return fields;
  }

  /** Returns the entries of a mapping with any names. */
  entries(): ReadonlyMap<string, Value> {
    if (!isMap(this.#node)) throw this.wrong('a mapping of names to values');
    const values = new Map<string, Value>();
    for (const { key, value } of this.#node.items) {
      const name = isScalar(key) ? String(key.value) : '';
      const at = (key as { range?: readonly number[] }).range?.[0] ?? this.offset;
      values.set(name, new Value(this.#document, value, this.#inside(name), at));
    }
    return values;
  }

  /** Returns the items of a list. Any other value is a list of one. */
  items(): readonly Value[] {
    if (!isSeq(this.#node)) return [this];
    return this.#node.items.map((item, i) => new Value(this.#document, item, `${this.path}[${i}]`, this.offset));
  }

  text(maxLength = 200): string {
    const value = this.#scalar();
    if (typeof value === 'string' && value.length <= maxLength) return value;
    throw this.wrong(`a text of at most ${maxLength} characters`);
  }

  number({ min, max, fractions = false }: NumberRange): number {
    const value = this.#scalar();
    if (typeof value === 'number' && value >= min && value <= max && (fractions || Number.isInteger(value))) {
      return value;
    }
    throw this.wrong(`a ${fractions ? '' : 'whole '}number from ${min} to ${max}`);
  }

  /** Returns a duration in microseconds. */
  micros(): number {
    try {
      return durationTicks(this.path, this.#scalar(), LONGEST) / TICKS_PER_MICRO;
    } catch (error) {
      if (error instanceof SluiceError) throw new ScenarioError(this.offset, error.message);
      throw error;
    }
  }

  /** The error for a value that has to be another one. */
  wrong(demand: string, remedy?: string): ScenarioError {
    const given = {
      option: this.path || 'scenario',
      demand,
      value: this.#shown(),
      ...(remedy !== undefined && { remedy }),
    };
    return new ScenarioError(this.offset, complaint('ERR_OPTION', given).message);
  }

  #scalar(): unknown {
    return isScalar(this.#node) ? this.#node.value : undefined;
  }

  #shown(): unknown {
    if (isMap(this.#node)) {
      const fields = [...this.entries()].map(([name, value]) => [name, value.#scalar()]);
      return Object.fromEntries(fields);
    }
    return isSeq(this.#node) ? [] : this.#scalar();
  }

  #inside(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }
}
