import { checkOptions, LIMIT_HINTS, rateOf, type Hints } from '@sluice/core/kit';
import type { LimitNumbers } from '@sluice/core';
import type { Findings } from '../findings.ts';
import { shownNode, type Mapping, type Node } from '../node.ts';
import { shownPlace, type Place } from '../place.ts';
import { NUMBER_NAMES } from './definition.ts';
import type { Field } from './field.ts';

const HINTS: Hints = { ...LIMIT_HINTS, '<<': 'Merge keys (`<<`) are not supported. Write the fields out.' };

/** The fields of one mapping. Unknown, duplicate and wrong fields are added to the findings. */
export class Fields {
  readonly where: string;
  readonly at: Place;
  readonly #limit: string;
  readonly #findings: Findings;
  readonly #nodes = new Map<string, { readonly node: Node; readonly keyAt: Place }>();

  constructor(
    { where, limit, known }: { readonly where: string; readonly limit: string; readonly known: readonly string[] },
    mapping: Mapping,
    findings: Findings,
  ) {
    this.where = where;
    this.at = mapping.at;
    this.#limit = limit;
    this.#findings = findings;
    for (const { key, value } of mapping.entries) this.#take(key, value, known);
  }

  /** Reads the fields of a nested mapping. */
  within(where: string, mapping: Mapping, known: readonly string[]): Fields {
    return new Fields({ where, limit: this.#limit, known }, mapping, this.#findings);
  }

  /** Whether there are so many findings that the rest of the file is not read. */
  get isFull(): boolean {
    return this.#findings.isFull;
  }

  /** Adds a finding. */
  note(at: Place, message: string): void {
    this.#findings.add(at, message, this.#limit);
  }

  has(name: string): boolean {
    return this.#nodes.has(name);
  }

  node(name: string): Node | undefined {
    return this.#nodes.get(name)?.node;
  }

  /** The position of the name of a field. The field must be given. */
  placeOf(name: string): Place {
    return this.#nodes.get(name)!.keyAt;
  }

  /** Returns the value of a field; `undefined` if the field is missing or wrong. */
  value(name: string, field: Field): unknown {
    const found = this.#nodes.get(name);
    return found === undefined ? undefined : this.#read(name, field, found.node);
  }

  /** Returns burst, count and period if each of them and their combination is valid; otherwise `undefined`. */
  numbers(fields: Readonly<Record<string, Field>>): LimitNumbers | undefined {
    const given = NUMBER_NAMES.filter((name) => name !== 'burst' || this.has(name));
    const values = given.map((name) => [name, this.#read(name, fields[name]!, this.node(name))] as const);
    if (values.some(([, value]) => value === undefined)) return undefined;
    const numbers = Object.fromEntries(values) as unknown as LimitNumbers;
    return this.#attempt(() => rateOf(this.where, numbers)) === undefined ? undefined : numbers;
  }

  #read(name: string, field: Field, node: Node | undefined): unknown {
    const option = `${this.where}.${name}`;
    const missing: Node = { kind: 'scalar', value: undefined, text: undefined, at: this.at };
    return this.#attempt(() => field.read(option, node ?? missing), node?.at);
  }

  #attempt<T>(call: () => T, at?: Place): T | undefined {
    try {
      return call();
    } catch (error) {
      const { message } = error as Error;
      this.note(at ?? this.#namedPlace(message), message);
      return undefined;
    }
  }

  /** The position of the field that a message about several fields names first. */
  #namedPlace(message: string): Place {
    const name = NUMBER_NAMES.find((field) => message.startsWith(`\`${this.where}.${field}\``));
    return this.node(name!)?.at ?? this.at;
  }

  #take(key: Node, node: Node, known: readonly string[]): void {
    const name = key.kind === 'scalar' ? key.text! : shownNode(key);
    if (known.includes(name)) return this.#keep(name, key.at, node);
    const value = node.kind === 'scalar' ? node.value : node.kind;
    this.#attempt(() => checkOptions(this.where, { [name]: value }, known, HINTS), key.at);
  }

  #keep(name: string, keyAt: Place, node: Node): void {
    const first = this.#nodes.get(name);
    if (first === undefined) this.#nodes.set(name, { node, keyAt });
    else this.note(keyAt, `\`${this.where}.${name}\` is given twice, first at ${shownPlace(first.keyAt)}. Keep one.`);
  }
}
