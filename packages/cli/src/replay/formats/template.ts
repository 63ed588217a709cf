import { isHeader, type DurationUnit, type FieldName, type LineParser, type LogFormat } from './line-parser.ts';

/** The variables of nginx that have another name here. */
const VARIABLES: Readonly<Record<string, FieldName>> = {
  remote_addr: 'address',
  time_local: 'time',
  time_iso8601: 'time',
  msec: 'time',
  request: 'request',
  request_method: 'method',
  request_uri: 'path',
  uri: 'path',
  status: 'status',
  request_time: 'duration',
};

interface Piece {
  readonly field: FieldName;
  readonly source: string;
  /** The text after the value. Empty for the last one: it ends with the line. */
  readonly after: Buffer;
}

/** A format whose values are separated by fixed text, written as nginx' `log_format`: `$remote_addr - [$time_local]`. */
export class TemplateFormat implements LogFormat {
  readonly name: string;
  readonly isJson = false;
  readonly durationUnit: DurationUnit;
  readonly timeIs = 'end';
  readonly #template: string;
  readonly #before: Buffer;
  readonly #pieces: readonly Piece[];

  constructor(name: string, template: string, durationUnit: DurationUnit = 's') {
    this.name = name;
    this.durationUnit = durationUnit;
    this.#template = template;
    const parts = template.split(/\$\{?([a-z0-9_:]+)\}?/i);
    this.#before = Buffer.from(parts[0]!, 'latin1');
    this.#pieces = pairs(parts.slice(1)).map(([variable, after]) => ({
      field: fieldOf(variable),
      source: `$${variable}`,
      after: Buffer.from(after, 'latin1'),
    }));
  }

  get headers(): readonly FieldName[] {
    return this.#pieces.map(({ field }) => field).filter(isHeader);
  }

  withUnit(unit: DurationUnit): TemplateFormat {
    return new TemplateFormat(this.name, this.#template, unit);
  }

  parser(fields: readonly FieldName[]): LineParser {
    const steps = this.#pieces.map((piece) => ({ ...piece, field: fields.indexOf(piece.field) }));
    // What follows the last value that is used is not looked at: servers often add values of their own.
    const last = steps.findLastIndex(({ field }) => field !== -1);
    return new TemplateParser(this.#before, steps.slice(0, last + 1), fields.length);
  }
}

function pairs(parts: readonly string[]): [string, string][] {
  const found: [string, string][] = [];
  for (let i = 0; i + 1 < parts.length; i += 2) found.push([parts[i]!, parts[i + 1]!]);
  return found;
}

function fieldOf(variable: string): FieldName {
  const known = VARIABLES[variable];
  if (known !== undefined) return known;
  return variable.startsWith('http_') ? `header:${variable.slice(5).replaceAll('_', '-')}` : variable;
}

interface Step {
  /** The number of the field; -1 if it is not used. */
  readonly field: number;
  readonly source: string;
  readonly after: Buffer;
}

const QUOTE = 34;
const BACKSLASH = 92;
const DASH = 45;

class TemplateParser implements LineParser {
  readonly #before: Buffer;
  readonly #steps: readonly Step[];
  readonly #count: number;
  /** Of each field, the number of the step that the last line has it from, plus 1; 0 if it lacks it. */
  readonly #found: Int32Array;

  constructor(before: Buffer, steps: readonly Step[], count: number) {
    this.#before = before;
    this.#steps = steps;
    this.#count = count;
    this.#found = new Int32Array(count);
  }

  parse(bytes: Buffer, start: number, end: number, spans: Int32Array): boolean {
    if (!startsWith(bytes, start, end, this.#before)) return false;
    spans.fill(-1, 0, 2 * this.#count);
    this.#found.fill(0);
    let from = start + this.#before.length;
    for (let i = 0; i < this.#steps.length; i++) {
      const { field, after } = this.#steps[i]!;
      const to = after.length === 0 ? end : endOfValue(bytes, from, end, after);
      if (to === -1) return false;
      if (field !== -1 && to > from && !(to === from + 1 && bytes[from] === DASH)) {
        spans[2 * field] = from;
        spans[2 * field + 1] = to;
        this.#found[field] = i + 1;
      }
      from = to + after.length;
    }
    return true;
  }

  sourceOf(i: number): string | undefined {
    return this.#steps[this.#found[i]! - 1]?.source;
  }
}

function endOfValue(bytes: Buffer, from: number, end: number, after: Buffer): number {
  const first = after[0]!;
  for (let at = from; at < end; at++) {
    const byte = bytes[at]!;
    // Apache writes a quote in a quoted value as \", nginx as \x22.
    if (byte === BACKSLASH && first === QUOTE) at++;
    else if (byte === first && (after.length === 1 || startsWith(bytes, at, end, after))) return at;
  }
  return -1;
}

function startsWith(bytes: Buffer, at: number, end: number, text: Buffer): boolean {
  if (at + text.length > end) return false;
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text[i]) return false;
  return true;
}

const DIRECTIVE = /^\s*log_format\s+\S+\s+(?:escape=\w+\s+)?/;
const QUOTED = /'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/g;

/**
 * Returns the text of a log format. It may be written as in the configuration of nginx: as the whole directive `log_format`, and in
 * several parts with quotes.
 */
export function formatText(text: string): string {
  const parts = text.replace(DIRECTIVE, '').replace(/;\s*$/, '').trim();
  if (!DIRECTIVE.test(text) && !/^'[^]*'$/.test(parts)) return text;
  return [...parts.matchAll(QUOTED)].map(([, single, double]) => (single ?? double)!.replace(/\\(.)/g, '$1')).join('');
}
