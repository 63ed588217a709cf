import type { LineParser } from './line-parser.ts';

/** A name that is looked for in an object. */
interface Wanted {
  readonly name: Buffer;
  /** The fields whose value it is; empty if only something inside is wanted. */
  readonly uses: ValueUse[];
  readonly inside: Wanted[];
}

/** A field that may have its value under some name. */
interface ValueUse {
  /** The number of the field. */
  readonly field: number;
  /** How early the path is in the list of the field: an earlier path wins. */
  readonly rank: number;
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [34, 92, 44, 58];
const [OBJECT, OBJECT_END, ARRAY, ARRAY_END] = [123, 125, 91, 93];
const LETTER_N = 110;
const DASH = 45;
const MAX_DEPTH = 16;

/**
 * Finds values in a line of JSON by their paths, without parsing the rest. Of an array it finds the first item, because
 * some logs write headers as arrays.
 */
export class JsonParser implements LineParser {
  readonly #root: Wanted[] = [];
  readonly #paths: readonly (readonly string[])[];
  readonly #count: number;
  /** Where the last line has each field: the place of the path in its list. */
  readonly #ranks: Int32Array;

  /** @param paths - Of each field, those where it may be: names with dots between them. */
  constructor(paths: readonly (readonly string[])[]) {
    this.#paths = paths;
    this.#count = paths.length;
    this.#ranks = new Int32Array(paths.length);
    for (const [field, all] of paths.entries()) {
      for (const [rank, path] of all.entries()) {
        add(this.#root, path.split('.'), field, rank);
        // Some logs write nested names as one: {"http.status": 200}.
        if (path.includes('.')) add(this.#root, [path], field, rank);
      }
    }
  }

  parse(bytes: Buffer, start: number, end: number, spans: Int32Array): boolean {
    spans.fill(-1, 0, 2 * this.#count);
    this.#ranks.fill(MAX_DEPTH * 1000);
    const from = skipSpace(bytes, start, end);
    if (bytes[from] !== OBJECT) return false;
    const after = this.#object(bytes, from, end, this.#root, spans, 0);
    return after !== -1 && skipSpace(bytes, after, end) === end;
  }

  sourceOf(i: number): string | undefined {
    return this.#paths[i]![this.#ranks[i]!];
  }

  /** Reads an object, and returns the byte after it; -1 if it is not valid. */
  #object(
    bytes: Buffer,
    start: number,
    end: number,
    wanted: readonly Wanted[],
    spans: Int32Array,
    depth: number,
  ): number {
    let at = skipSpace(bytes, start + 1, end);
    if (bytes[at] === OBJECT_END) return at + 1;
    while (at < end) {
      if (bytes[at] !== QUOTE) return -1;
      const nameEnd = endOfString(bytes, at + 1, end);
      if (nameEnd === -1) return -1;
      const found = namedBy(bytes, at + 1, nameEnd, wanted);
      at = skipSpace(bytes, nameEnd + 1, end);
      if (bytes[at] !== COLON) return -1;
      at = skipSpace(bytes, at + 1, end);
      at = found === undefined ? endOfValue(bytes, at, end) : this.#value(bytes, at, end, found, spans, depth);
      if (at === -1) return -1;
      at = skipSpace(bytes, at, end);
      if (bytes[at] === OBJECT_END && at < end) return at + 1;
      if (bytes[at] !== COMMA) return -1;
      at = skipSpace(bytes, at + 1, end);
    }
    return -1;
  }

  #value(bytes: Buffer, at: number, end: number, wanted: Wanted, spans: Int32Array, depth: number): number {
    const first = bytes[at];
    if (first === OBJECT && wanted.inside.length > 0 && depth < MAX_DEPTH)
      return this.#object(bytes, at, end, wanted.inside, spans, depth + 1);
    const after = endOfValue(bytes, at, end);
    if (after === -1 || wanted.uses.length === 0 || first === OBJECT) return after;
    let [from, to] = [at, after];
    if (first === ARRAY) {
      from = skipSpace(bytes, at + 1, end);
      if (bytes[from] === ARRAY_END) return after;
      to = endOfValue(bytes, from, end);
      if (to === -1) return -1;
    }
    this.#note(bytes, from, to, wanted.uses, spans);
    return after;
  }

  #note(bytes: Buffer, start: number, end: number, uses: readonly ValueUse[], spans: Int32Array): void {
    const isText = bytes[start] === QUOTE;
    const [from, to] = isText ? [start + 1, end - 1] : [start, end];
    const isAbsent = from === to || (isText ? to === from + 1 && bytes[from] === DASH : bytes[start] === LETTER_N);
    if (isAbsent) return;
    for (let i = 0; i < uses.length; i++) {
      const { field, rank } = uses[i]!;
      if (rank > this.#ranks[field]!) continue;
      spans[2 * field] = from;
      spans[2 * field + 1] = to;
      this.#ranks[field] = rank;
    }
  }
}

function add(list: Wanted[], [name, ...rest]: readonly string[], field: number, rank: number): void {
  const bytes = Buffer.from(name!);
  let wanted = list.find((each) => each.name.equals(bytes));
  if (wanted === undefined) list.push((wanted = { name: bytes, uses: [], inside: [] }));
  if (rest.length > 0) add(wanted.inside, rest, field, rank);
  else wanted.uses.push({ field, rank });
}

function namedBy(bytes: Buffer, start: number, end: number, wanted: readonly Wanted[]): Wanted | undefined {
  const length = end - start;
  for (let i = 0; i < wanted.length; i++) {
    const { name } = wanted[i]!;
    if (name.length === length && isAt(bytes, start, name)) return wanted[i];
  }
  return undefined;
}

function isAt(bytes: Buffer, at: number, text: Buffer): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text[i]) return false;
  return true;
}

function skipSpace(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at]! <= 32) at++;
  return at;
}

/** Returns where the closing quote is; -1 if there is none. */
function endOfString(bytes: Buffer, start: number, end: number): number {
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  return -1;
}

/** Returns the byte after a value; -1 if it does not end. */
function endOfValue(bytes: Buffer, start: number, end: number): number {
  const first = bytes[start];
  if (first === QUOTE) {
    const quote = endOfString(bytes, start + 1, end);
    return quote === -1 ? -1 : quote + 1;
  }
  if (first === OBJECT || first === ARRAY) return endOfNested(bytes, start, end);
  let at = start;
  while (at < end && !isEnd(bytes[at]!)) at++;
  return at === start ? -1 : at;
}

function isEnd(byte: number): boolean {
  return byte === COMMA || byte === OBJECT_END || byte === ARRAY_END || byte <= 32;
}

function endOfNested(bytes: Buffer, start: number, end: number): number {
  let depth = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = endOfString(bytes, at + 1, end);
      if (at === -1) return -1;
    } else if (byte === OBJECT || byte === ARRAY) depth++;
    else if ((byte === OBJECT_END || byte === ARRAY_END) && --depth === 0) return at + 1;
  }
  return -1;
}
