import { isHeader, type DurationUnit, type FieldName, type LineParser, type LogFormat } from './line-parser.ts';

const FIELDS = '#Fields:';
const [NUMBER_SIGN, SPACE, TAB, DASH] = [35, 32, 9, 45];

const COLUMNS: Readonly<Record<string, FieldName>> = {
  'c-ip': 'address',
  'cs-method': 'method',
  'cs-uri': 'path',
  'cs-uri-stem': 'path',
  'sc-status': 'status',
  'time-taken': 'duration',
  'cs-host': 'header:host',
  'x-forwarded-for': 'header:x-forwarded-for',
};

/** The extended log format of the W3C, as IIS and CloudFront write it: a line `#Fields:` names the values of the lines after it. */
export class W3cFormat implements LogFormat {
  readonly name = 'w3c';
  readonly isJson = false;
  readonly durationUnit: DurationUnit;
  readonly timeIs = 'end';
  readonly #columns: readonly string[];

  /**
   * @param columns - The columns of the first line `#Fields:`.
   * @param unit - The unit of durations. Default: milliseconds as in IIS, and seconds in CloudFront.
   */
  constructor(columns: readonly string[], unit?: DurationUnit) {
    this.#columns = columns;
    this.durationUnit = unit ?? (columns.includes('x-edge-location') ? 's' : 'ms');
  }

  get headers(): readonly FieldName[] {
    return this.#columns.map(fieldOf).filter(isHeader);
  }

  withUnit(unit: DurationUnit): W3cFormat {
    return new W3cFormat(this.#columns, unit);
  }

  parser(fields: readonly FieldName[]): LineParser {
    return new W3cParser(fields);
  }
}

/** Returns the columns that a line names; undefined for another line. */
export function columnsOf(line: string): readonly string[] | undefined {
  return line.startsWith(FIELDS) ? line.slice(FIELDS.length).trim().split(/\s+/) : undefined;
}

function fieldOf(column: string): FieldName {
  const [, header] = /^cs\((.+)\)$/.exec(column) ?? [];
  return header === undefined ? (COLUMNS[column.toLowerCase()] ?? column) : `header:${header.toLowerCase()}`;
}

class W3cParser implements LineParser {
  readonly #fields: readonly FieldName[];
  #columns: readonly string[] = [];
  /** For each column the number of its field, or -1. */
  #numbers: readonly number[] = [];
  /** The column of the date, if that of the time follows it; otherwise no line has a time. */
  #date = -1;
  readonly #has: Uint8Array;

  constructor(fields: readonly FieldName[]) {
    this.#fields = fields;
    this.#has = new Uint8Array(fields.length);
  }

  parse(bytes: Buffer, start: number, end: number, spans: Int32Array): boolean {
    if (this.isRemark(bytes, start)) {
      this.#begin(columnsOf(bytes.toString('latin1', start, end)));
      return false;
    }
    spans.fill(-1, 0, 2 * this.#fields.length);
    this.#has.fill(0);
    if (this.#numbers.length === 0) return false;
    const tab = bytes.indexOf(TAB, start);
    const separator = tab !== -1 && tab < end ? TAB : SPACE;
    let from = start;
    let dateStart = start;
    for (let column = 0; column < this.#numbers.length; column++) {
      if (from > end) return false;
      const next = bytes.indexOf(separator, from);
      const to = next === -1 || next > end ? end : next;
      if (column === this.#date) dateStart = from;
      const number = this.#numbers[column]!;
      if (number !== -1 && to > from && !(to === from + 1 && bytes[from] === DASH)) {
        spans[2 * number] = column === this.#date + 1 && this.#date !== -1 ? dateStart : from;
        spans[2 * number + 1] = to;
        this.#has[number] = 1;
      }
      from = to + 1;
    }
    return from > end;
  }

  isRemark(bytes: Buffer, start: number): boolean {
    return bytes[start] === NUMBER_SIGN;
  }

  sourceOf(i: number): string | undefined {
    if (this.#has[i] !== 1) return undefined;
    return this.#fields[i] === 'time' ? 'date time' : this.#columns[this.#numbers.indexOf(i)];
  }

  /** IIS writes a line of columns at each start, which may have others. */
  #begin(columns: readonly string[] | undefined): void {
    if (columns === undefined) return;
    const date = columns.indexOf('date');
    this.#date = columns[date + 1] === 'time' ? date : -1;
    this.#columns = columns;
    this.#numbers = columns.map((column, i) =>
      column === 'time' && (i === 0 || i !== this.#date + 1) ? -1 : this.#fields.indexOf(fieldOf(column)),
    );
  }
}
