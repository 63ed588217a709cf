import { checkOptions, OVERRIDE_HINTS, rateKind, rateOf, ValueInWords, type Hints, type Rate } from '@sluice/core/kit';
import type { LimitNumbers, SluiceError } from '@sluice/core';
import type { Problems } from '../nodes/problems.ts';
import { shownNode, type Mapping, type Node } from '../nodes/node.ts';
import { shownPosition, type Position } from '../nodes/position.ts';
import { NUMBER_NAMES } from './definition.ts';
import type { Field } from './field.ts';

const HINTS: Hints = { ...OVERRIDE_HINTS, '<<': 'Merge keys (`<<`) are not supported. Write the fields out.' };
const NEEDED: readonly string[] = rateKind.needed;

/** The numbers of a rate, as they are written and in ticks. */
export interface RateNumbers {
  readonly numbers: LimitNumbers;
  readonly rate: Rate;
}

/** What a mapping is for. */
interface FieldsOf {
  /** The path of the mapping in messages. */
  readonly where: string;
  /** The limit that it belongs to, if there is one. */
  readonly limit?: string | undefined;
  /** The names of its fields. */
  readonly known: readonly string[];
  /** What to write instead of other names. */
  readonly hints?: Hints;
}

/** The fields of one mapping. Unknown, duplicate and wrong fields are added to the problems. */
export class Fields {
  readonly where: string;
  readonly at: Position;
  readonly #limit: string | undefined;
  readonly #problems: Problems;
  readonly #nodes = new Map<string, { readonly node: Node; readonly keyAt: Position }>();

  constructor({ where, limit, known, hints = HINTS }: FieldsOf, mapping: Mapping, problems: Problems) {
    this.where = where;
    this.at = mapping.at;
    this.#limit = limit;
    this.#problems = problems;
    for (const { key, value } of mapping.entries) this.#take(key, value, known, hints);
  }

  /** Reads the fields of a nested mapping. */
  within(where: string, mapping: Mapping, known: readonly string[], hints?: Hints): Fields {
    return new Fields({ where, limit: this.#limit, known, hints: { ...HINTS, ...hints } }, mapping, this.#problems);
  }

  /** Whether there are so many problems that the rest of the file is not read. */
  get isFull(): boolean {
    return this.#problems.isFull;
  }

  /** Adds a problem. */
  note(at: Position, message: string): void {
    this.#problems.add(at, message, this.#limit);
  }

  /** Whether a field of this name is given. */
  has(name: string): boolean {
    return this.#nodes.has(name);
  }

  /** Returns `true` for each field that is given, for checks of which fields are given together. */
  given(names: readonly string[]): Record<string, true> {
    return Object.fromEntries(names.filter((name) => this.has(name)).map((name) => [name, true]));
  }

  /** Returns the value of a field as it was written. */
  node(name: string): Node | undefined {
    return this.#nodes.get(name)?.node;
  }

  /** The position of the name of a field. The field must be given. */
  positionOf(name: string): Position {
    return this.#nodes.get(name)!.keyAt;
  }

  /** Returns the value of a field; `undefined` if the field is missing or wrong. */
  value(name: string, field: Field): unknown {
    const found = this.#nodes.get(name);
    return found === undefined ? undefined : this.#read(name, field, found.node);
  }

  /** The same for a field that must be given: if it is missing, that is a problem. */
  needed(name: string, field: Field): unknown {
    return this.#read(name, field, this.node(name));
  }

  /**
   * Returns the fields of a mapping, and its position; `undefined` if it is missing or not a mapping.
   *
   * @param known - The names of its fields.
   */
  inner(name: string, field: Field, known: readonly string[]): Fields | undefined {
    const mapping = this.value(name, field) as Mapping | undefined;
    return mapping && this.within(`${this.where}.${name}`, mapping, known);
  }

  /**
   * Calls a check of several fields. If it throws, that is a problem at the field that the error is about, or at the
   * mapping.
   */
  checked<T>(check: () => T): T | undefined {
    try {
      return check();
    } catch (error) {
      const { message, path } = error as SluiceError;
      const name = path?.startsWith(`${this.where}.`) ? path.slice(this.where.length + 1) : '';
      this.note(this.node(name)?.at ?? this.at, message);
      return undefined;
    }
  }

  /**
   * Reads all given fields of a table. Those that are wrong are missing from the values.
   *
   * @returns Whether none of them is wrong, and the values.
   */
  values(table: Readonly<Record<string, Field>>): { readonly ok: boolean; readonly values: Record<string, unknown> } {
    const given = Object.entries(table).filter(([name]) => this.has(name));
    const all = given.map(([name, field]) => [name, this.value(name, field)] as const);
    const right = all.filter(([, value]) => value !== undefined);
    return { ok: right.length === all.length, values: Object.fromEntries(right) };
  }

  /** Returns the numbers of a rate if each of them and their combination is valid; otherwise `undefined`. */
  numbers(fields: Readonly<Record<string, Field>>): RateNumbers | undefined {
    const given = NUMBER_NAMES.filter((name) => NEEDED.includes(name) || this.has(name));
    const values = given.map((name) => [name, this.#read(name, fields[name]!, this.node(name))] as const);
    if (values.some(([, value]) => value === undefined)) return undefined;
    const numbers = Object.fromEntries(values) as unknown as LimitNumbers;
    const rate = this.checked(() => rateOf(this.where, numbers));
    return rate && { numbers, rate };
  }

  #read(name: string, field: Field, node: Node | undefined): unknown {
    const option = `${this.where}.${name}`;
    const missing: Node = { kind: 'scalar', value: undefined, text: undefined, at: this.at };
    return this.attempt(() => field.read(option, node ?? missing), node?.at);
  }

  /** Calls a function, and adds its error to the problems. */
  attempt<T>(call: () => T, at?: Position): T | undefined {
    try {
      return call();
    } catch (error) {
      const { message } = error as Error;
      this.note(at ?? this.at, message);
      return undefined;
    }
  }

  #take(key: Node, node: Node, known: readonly string[], hints: Hints): void {
    const name = key.kind === 'scalar' ? key.text! : shownNode(key);
    if (known.includes(name)) return this.#keep(name, key.at, node);
    const value = node.kind === 'scalar' ? node.value : new ValueInWords(shownNode(node));
    this.attempt(() => checkOptions(this.where, { [name]: value }, known, hints), key.at);
  }

  #keep(name: string, keyAt: Position, node: Node): void {
    const first = this.#nodes.get(name);
    if (first === undefined) this.#nodes.set(name, { node, keyAt });
    else
      this.note(keyAt, `\`${this.where}.${name}\` is given twice, first at ${shownPosition(first.keyAt)}. Keep one.`);
  }
}
