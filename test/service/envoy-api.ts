import { loadSync } from '@grpc/proto-loader';
import { createRequire } from 'node:module';
import { join, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fullTypeName } from './type-name.ts';

/** A field of a message, as descriptors of protocol buffers have it. */
interface FieldType {
  readonly name: string;
  readonly number: number;
  readonly label: string;
  readonly type: string;
  readonly typeName: string;
}

interface MessageType {
  readonly field: readonly FieldType[];
  readonly options?: { readonly mapEntry?: boolean } | null;
}

/** A message or an enum. */
interface NestingType {
  readonly name: string;
  readonly nestedType?: readonly NestingType[];
  readonly enumType?: readonly NestingType[];
}

interface EnumType {
  readonly value: readonly { readonly name: string; readonly number: number }[];
}

const ROOT = dirname(createRequire(import.meta.url).resolve('@grpc/grpc-js-xds/package.json'));
const DIRECTORIES = ['envoy-api', 'xds', 'googleapis', 'protoc-gen-validate'].map((name) => join(ROOT, 'deps', name));

/** Names of types and fields, from files of protocol buffers. */
export class Definitions {
  /** Types by their full names, those in other messages too. */
  readonly #all = new Map<string, object>();

  private constructor(files: readonly string[], includeDirs: readonly string[]) {
    const loaded = loadSync([...files], { keepCase: true, includeDirs: [...includeDirs] });
    for (const [name, definition] of Object.entries(loaded)) {
      if ('type' in definition) this.#add(name, definition.type as NestingType);
    }
  }

  #add(name: string, type: NestingType): void {
    this.#all.set(name, type);
    for (const nested of [...(type.nestedType ?? []), ...(type.enumType ?? [])])
      this.#add(`${name}.${nested.name}`, nested);
  }

  /** Those of Envoy, by Envoy: the files that grpc-js-xds ships. */
  static ofEnvoy(files: readonly string[]): Definitions {
    return new Definitions(files, DIRECTORIES);
  }

  /** Those that our tests and the benchmark use. */
  static ours(): Definitions {
    return new Definitions([fileURLToPath(new URL('proto/rls.proto', import.meta.url))], []);
  }

  /** Returns what is wrong with a value as a message of a type: `path: what`. */
  problems(value: unknown, type: string, path = '$'): readonly string[] {
    if (type === 'google.protobuf.Any') return this.#problemsOfAny(value, path);
    if (type === 'google.protobuf.Duration') return isDuration(value) ? [] : [`${path}: not a duration`];
    if (/^google\.protobuf\.\w+Value$/.test(type)) return typeof value === 'object' ? [`${path}: not a scalar`] : [];
    if (!isObject(value)) return [`${path}: not a message`];
    const { field: fields } = this.#message(type);
    return Object.entries(value).flatMap(([name, inner]) => {
      const field = fields.find((each) => each.name === name);
      return field === undefined
        ? [`${path}.${name}: ${type} has no such field`]
        : this.#problemsOfField(inner, field, `${path}.${name}`);
    });
  }

  /** Returns in what the messages of a type differ from those of a type of other definitions, down to the numbers. */
  differences(type: string, other: Definitions, otherType: string): readonly string[] {
    return this.#message(type).field.flatMap((field) => {
      const same = other.#message(otherType).field.find(({ name }) => name === field.name);
      if (same === undefined) return [`${otherType}.${field.name} is not there`];
      const isSame = same.number === field.number && same.label === field.label && same.type === field.type;
      if (!isSame) return [`${otherType}.${field.name}: ${textOf(same)}, not ${textOf(field)}`];
      if (field.type === 'TYPE_ENUM') return this.#enumDifferences(field.typeName, other, same.typeName);
      const isOurs = field.type === 'TYPE_MESSAGE' && !field.typeName.startsWith('google.');
      return isOurs ? this.differences(field.typeName, other, same.typeName) : [];
    });
  }

  #enumDifferences(type: string, other: Definitions, otherType: string): readonly string[] {
    const values = new Map(other.#enum(otherType).value.map(({ name, number }) => [name, number]));
    return this.#enum(type)
      .value.filter(({ name, number }) => values.get(name) !== number)
      .map(({ name }) => `${otherType}.${name}`);
  }

  #problemsOfAny(value: unknown, path: string): readonly string[] {
    if (!isObject(value)) return [`${path}: not a message`];
    const { '@type': url, ...message } = value;
    const name = /^type\.googleapis\.com\/(.+)$/.exec(String(url))?.[1];
    if (name === undefined || !this.#all.has(name)) return [`${path}: the type ${String(url)} is not known`];
    return this.problems(message, name, path);
  }

  #problemsOfField(value: unknown, field: FieldType, path: string): readonly string[] {
    const entry = field.type === 'TYPE_MESSAGE' ? this.#mapEntry(field.typeName) : undefined;
    if (entry !== undefined) {
      if (!isObject(value)) return [`${path}: not a map`];
      return Object.entries(value).flatMap(([key, inner]) => this.#problemsOfOne(inner, entry, `${path}[${key}]`));
    }
    if (field.label !== 'LABEL_REPEATED') return this.#problemsOfOne(value, field, path);
    if (!Array.isArray(value)) return [`${path}: not a list`];
    return value.flatMap((inner, i) => this.#problemsOfOne(inner, field, `${path}[${i}]`));
  }

  #problemsOfOne(value: unknown, { type, typeName }: FieldType, path: string): readonly string[] {
    if (type === 'TYPE_MESSAGE') return this.problems(value, typeName, path);
    const isRight =
      type === 'TYPE_ENUM'
        ? this.#enum(typeName).value.some(({ name }) => name === value)
        : typeof value === (SCALARS[type] ?? 'number');
    return isRight ? [] : [`${path}: ${JSON.stringify(value)} is not ${typeName === '' ? type : typeName}`];
  }

  #mapEntry(type: string): FieldType | undefined {
    if (!this.#all.has(type)) return undefined;
    const { options, field } = this.#message(type);
    return options?.mapEntry === true ? field.find(({ name }) => name === 'value') : undefined;
  }

  #message(type: string): MessageType {
    const { field, options } = this.#typeOf(type) as MessageType;
    const isType = (name: string): boolean => this.#all.has(name);
    const absolute = (each: FieldType): FieldType =>
      each.typeName === '' ? each : { ...each, typeName: fullTypeName(each.typeName, type, isType) };
    return { field: field.map(absolute), ...(options !== undefined && { options }) };
  }

  #enum(type: string): EnumType {
    return this.#typeOf(type) as EnumType;
  }

  #typeOf(type: string): object {
    const found = this.#all.get(type);
    if (found === undefined) throw new Error(`There is no type ${type}.`);
    return found;
  }
}

const SCALARS: Readonly<Record<string, string>> = { TYPE_STRING: 'string', TYPE_BYTES: 'string', TYPE_BOOL: 'boolean' };

function isDuration(value: unknown): boolean {
  return typeof value === 'string' && /^\d+(?:\.\d{1,9})?s$/.test(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf({ label, type, number }: FieldType): string {
  return `${label} ${type} ${number}`;
}
