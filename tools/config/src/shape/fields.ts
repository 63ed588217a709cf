import type { SluiceError } from '@sluice/core';
import { checkOptions, complaint, leafOf, ValueInWords, type Hints } from '@sluice/core/kit';
import type { Problems } from '../nodes/problems.ts';
import { shownNode, wrongNode, type Mapping, type Node, type Scalar } from '../nodes/node.ts';
import { shownPosition, type Position } from '../nodes/position.ts';
import { OVERRIDE_HINTS } from './kinds.ts';

/** The part of JSON Schema that the two files need: draft 7, which editors support best. */
export interface JsonSchema {
  readonly $schema?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly exclusiveMaximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, JsonSchema | false>>;
  readonly propertyNames?: JsonSchema;
  readonly additionalProperties?: JsonSchema | false;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly anyOf?: readonly JsonSchema[];
}

/** A field of a limit or an override: its schema for editors, with the description, and its check by the loader. */
export interface Field {
  readonly schema: JsonSchema;
  /**
   * Validates and returns the value. What is wrong within a mapping is added to the problems; `undefined` is returned then.
   *
   * @param option - The name of the field in messages, such as `NewOrders.count`.
   * @param fields - The fields of the mapping around it.
   * @throws {SluiceError} If the value is wrong, with the option, the demand, the value and the remedy.
   */
  read(option: string, node: Node, fields: Fields): unknown;
}

/** Returns the node of a value that is neither a list nor a mapping, or throws. */
export function scalarOf(option: string, node: Node, { demand, example }: { demand: string; example: string }): Scalar {
  if (node.kind === 'scalar') return node;
  throw wrongNode(option, demand, node, `For example ${leafOf(option)}: ${example}.`);
}

/** Returns the value of a scalar, or throws. */
export function rightValue(
  option: string,
  node: Node,
  { demand, example }: { readonly demand: string; readonly example: string },
  isRight: (value: unknown) => boolean,
): unknown {
  const { value } = scalarOf(option, node, { demand, example });
  if (isRight(value)) return value;
  throw complaint('ERR_OPTION', { option, demand, value, remedy: `For example ${leafOf(option)}: ${example}.` });
}

/** Whether a value is a text that is not empty. */
export function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

const HINTS: Hints = { ...OVERRIDE_HINTS, '<<': 'Merge keys (`<<`) are not supported. Write the fields out.' };

/** Fields by their names. */
export type FieldTable = Readonly<Record<string, Field>>;

/** Values of fields by their names. */
type Values = Readonly<Record<string, unknown>>;

/** What a nested mapping has. */
interface RecordOf {
  readonly table: FieldTable;
  readonly needed?: readonly string[];
  readonly hints?: Hints | undefined;
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
  /** Those of nested mappings. */
  #inner: readonly Fields[] = [];

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
    return this.has(name) ? this.needed(name, field) : undefined;
  }

  /** The same for a field that must be given: if it is missing, that is a problem. */
  needed(name: string, field: Field): unknown {
    const missing: Node = { kind: 'scalar', value: undefined, text: undefined, at: this.at };
    return this.attempt(() => field.read(`${this.where}.${name}`, this.node(name) ?? missing, this));
  }

  /**
   * Reads all fields of a table that are given or needed. Those that are wrong are missing from the values.
   *
   * @returns Whether none of them is wrong, and the values.
   */
  values(table: FieldTable, needed: readonly string[] = []): { readonly ok: boolean; readonly values: Values } {
    const before = this.#problems.count;
    const given = Object.entries(table).filter(([name]) => this.has(name) || needed.includes(name));
    const all = given.map(([name, field]) => [name, this.needed(name, field)] as const);
    const values = Object.fromEntries(all.filter(([, value]) => value !== undefined));
    return { ok: this.#problems.count === before, values };
  }

  /** Reads a nested mapping as {@link values}; `undefined` if it has a wrong value. */
  record(where: string, mapping: Mapping, { table, needed = [], hints }: RecordOf): Values | undefined {
    const inner = this.within(where, mapping, Object.keys(table), hints);
    this.#inner = [...this.#inner, inner];
    const { ok, values } = inner.values(table, needed);
    return ok ? values : undefined;
  }

  /** The place of the value that has a path, or else of the mapping around it. */
  placeOf(path: string): Position {
    const inner = this.#inner.find(({ where }) => path.startsWith(`${where}.`));
    return inner?.placeOf(path) ?? this.node(path.slice(this.where.length + 1))?.at ?? this.at;
  }

  /** Calls a check. If it throws, that is a problem, at `at` or at the value that the error is about. */
  attempt<T>(check: () => T, at?: Position): T | undefined {
    try {
      return check();
    } catch (error) {
      const { message, path = '' } = error as SluiceError;
      this.note(at ?? this.placeOf(path), message);
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
