import { isHeader, type DurationUnit, type FieldName, type LineParser, type LogFormat } from './line-parser.ts';
import { notated } from './notation.ts';

interface Piece {
  readonly field: FieldName;
  readonly source: string;
  /** The text after the value. Empty for the last one. */
  readonly after: Buffer;
}

/** A format whose values are separated by fixed text, in the notation of its server: `$remote_addr - [$time_local]`. */
export class TemplateFormat implements LogFormat {
  readonly name: string;
  readonly isJson = false;
  readonly durationUnit: DurationUnit;
  readonly timeIs: 'end' | 'start';
  readonly #template: string;
  readonly #before: Buffer;
  readonly #pieces: readonly Piece[];

  /**
   * @param template - See {@link notated}.
   * @param unit - The unit of durations, if it is not that of the server.
   */
  constructor(name: string, template: string, unit?: DurationUnit) {
    const { texts, variables, timeIs, durationUnit } = notated(template);
    this.name = name;
    this.timeIs = timeIs;
    this.durationUnit = unit ?? durationUnit;
    this.#template = template;
    this.#before = Buffer.from(texts[0]!, 'latin1');
    this.#pieces = variables.map((variable, i) => ({ ...variable, after: Buffer.from(texts[i + 1]!, 'latin1') }));
  }

  get headers(): readonly FieldName[] {
    return this.#pieces.map(({ field }) => field).filter(isHeader);
  }

  withUnit(unit: DurationUnit): TemplateFormat {
    return new TemplateFormat(this.name, this.#template, unit);
  }

  parser(fields: readonly FieldName[]): LineParser {
    const steps = this.#pieces.map(({ field, source, after }, i): Step => {
      return { field: fields.indexOf(field), source, after, end: this.#endOf(i), isAddress: field === 'address' };
    });
    // What follows the last value that is used is not looked at: servers often add values of their own.
    const last = steps.findLastIndex(({ field }) => field !== -1);
    return new TemplateParser(this.#before, steps.slice(0, last + 1), fields.length);
  }

  #endOf(i: number): FindEnd {
    const { field, after } = this.#pieces[i]!;
    if (after.length === 0) return endAtTheEnd(field);
    if (!isColon(after)) return (bytes, from, end) => endOfValue(bytes, from, end, after);
    // Before a port there is a host, and no space.
    if (field !== 'address') return (bytes, from, end) => endOfValue(bytes, from, wordEnd(bytes, from, end), after);
    // An address of IPv6 has colons too. The last ones are those of the format.
    const next = this.#pieces.findIndex((piece, at) => at > i && !isColon(piece.after));
    const { field: other, after: rest } = this.#pieces[next]!;
    const endOfAll: FindEnd =
      rest.length === 0 ? endAtTheEnd(other) : (bytes, from, end) => endOfValue(bytes, from, end, rest);
    return (bytes, from, end) => colonBefore(bytes, from, endOfAll(bytes, from, end), next - i);
  }
}

/** Returns the byte after the last one of a value; -1 if the line has another format. */
type FindEnd = (bytes: Buffer, from: number, end: number) => number;

interface Step {
  /** The number of the field; -1 if it is not used. */
  readonly field: number;
  readonly source: string;
  readonly after: Buffer;
  readonly end: FindEnd;
  readonly isAddress: boolean;
}

const [QUOTE, BACKSLASH, DASH, COLON, COMMA, SPACE] = [34, 92, 45, 58, 44, 32];

class TemplateParser implements LineParser {
  readonly #before: Buffer;
  readonly #steps: readonly Step[];
  readonly #count: number;
  /** The number of the step that the last line has each field from, plus 1; 0 if it lacks it. */
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
      const step = this.#steps[i]!;
      const { field, after } = step;
      const to = step.end(bytes, from, end);
      if (to === -1 || (step.isAddress && wordEnd(bytes, from, to) < to)) return false;
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

/** A format may be only the beginning of the lines: of what follows, nothing belongs to a value without spaces. */
function endAtTheEnd(field: FieldName): FindEnd {
  return isHeader(field) || field === 'request' || field === 'time' ? (_bytes, _from, end) => end : wordEnd;
}

/** Returns the first space that does not follow a comma, as in a list of addresses. */
function wordEnd(bytes: Buffer, from: number, end: number): number {
  for (let at = from; at < end; at++) if (bytes[at] === SPACE && bytes[at - 1] !== COMMA) return at;
  return end;
}

function isColon(after: Buffer): boolean {
  return after.length === 1 && after[0] === COLON;
}

/** Returns the last colon before the end, or with a larger number an earlier one. */
function colonBefore(bytes: Buffer, from: number, end: number, number: number): number {
  let left = number;
  for (let at = end - 1; at >= from; at--) if (bytes[at] === COLON && --left === 0) return at;
  return -1;
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
