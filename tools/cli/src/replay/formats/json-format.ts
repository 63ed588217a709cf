import { isHeader, type DurationUnit, type FieldName, type LineParser, type LogFormat } from './line-parser.ts';
import { JsonParser } from './json-parser.ts';

/** What is different from format to format of JSON lines. */
export interface JsonLayout {
  readonly name: string;
  /** Where each field is, as a path of names with dots. The first path that a line has counts. */
  readonly paths: Readonly<Record<FieldName, readonly string[]>>;
  /** Where a header is, with its name after it; in which case the name is written. */
  readonly headers?: { readonly path: string; readonly spelling: 'lower' | 'train' };
  readonly durationUnit: DurationUnit;
  readonly timeIs: 'end' | 'start';
}

/** A format of one JSON object in each line. */
export class JsonFormat implements LogFormat {
  readonly name: string;
  readonly isJson = true;
  readonly durationUnit: DurationUnit;
  readonly timeIs: 'end' | 'start';
  readonly #layout: JsonLayout;

  constructor(layout: JsonLayout) {
    this.name = layout.name;
    this.durationUnit = layout.durationUnit;
    this.timeIs = layout.timeIs;
    this.#layout = layout;
  }

  /** Returns the same format with some fields elsewhere. */
  with(paths: ReadonlyMap<FieldName, string>): JsonFormat {
    const changed = Object.fromEntries([...paths].map(([field, path]) => [field, [path]]));
    return new JsonFormat({ ...this.#layout, paths: { ...this.#layout.paths, ...changed } });
  }

  get headers(): readonly FieldName[] {
    return Object.keys(this.#layout.paths).filter(isHeader);
  }

  withUnit(durationUnit: DurationUnit): JsonFormat {
    return new JsonFormat({ ...this.#layout, durationUnit });
  }

  parser(fields: readonly FieldName[]): LineParser {
    return new JsonParser(fields.map((field) => this.#pathsOf(field)));
  }

  #pathsOf(field: FieldName): readonly string[] {
    const { paths, headers } = this.#layout;
    if (paths[field] !== undefined) return paths[field];
    if (field.startsWith('json:')) return [field.slice(5)];
    if (!field.startsWith('header:') || headers === undefined) return [];
    const name = field.slice(7);
    return [headers.path + (headers.spelling === 'lower' ? name : trainCase(name))];
  }
}

function trainCase(name: string): string {
  return name.replace(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase());
}
