// The room text: YAML and JSON, safe against hostile texts, with the place of each value and mistake.
import { Composer, Lexer, Parser, type CST, type Document, type ErrorCode, type YAMLError } from 'yaml';
import { messageOf } from '@sluice/core/kit';
import type { Problems } from '../nodes/problems.ts';
import type { Node } from '../nodes/node.ts';
import { BEGINNING, LineIndex, type Position } from '../nodes/position.ts';
import { Aliases } from './aliases.ts';
import { Composed, type YamlNode } from './composed.ts';
import { isMapping, isSequence, takeSlice, type Sequence } from './slice.ts';
import { Lexemes } from './lexemes.ts';

/** The maximum depth of the parser's stack. Real files need much less. */
const MAX_DEPTH = 32;
/** How many lexemes are read between two checks for long sequences. */
const LEXEMES = 2048;
/** The maximum number of entries in a mapping: far more than real files have, and read within a second. */
const MAX_ENTRIES = 10_000;
/** The maximum length of a value in UTF-16 code units: longer than any real name, id or comment. */
const MAX_VALUE_LENGTH = 65_536;
/** The maximum number of tokens of the outermost level. A document is one; most others are errors. */
const MAX_OUTERMOST = 100;
/** The maximum number of anchors and tags of a value. YAML allows one of each; the library reports a few more. */
const MAX_PROPERTIES = 100;
/** A sequence with at least this many items is composed before its end. */
const LONG = 256;

const OPTIONS = { keepSourceTokens: true, uniqueKeys: false, prettyErrors: false } as const;

/** What to write, for the mistakes that people make most. The library names them in the words of the YAML specification. */
const REMEDIES: Partial<Record<ErrorCode, string>> = {
  BAD_DQ_ESCAPE: 'Put the value in single quotes.',
  BAD_INDENT: 'Indent fields that belong together equally, and close each bracket.',
  BAD_SCALAR_START: 'Put the value in quotes.',
  BLOCK_AS_IMPLICIT_KEY:
    'Write each field on its own line, all indented equally, or in braces: { count: 300, period: 180m }.',
  BLOCK_IN_FLOW: 'Write a comma after each field in braces: { count: 300, period: 180m }.',
  MISSING_CHAR: 'Close each quote and each bracket, and write a comma between items in brackets.',
  MULTILINE_IMPLICIT_KEY: 'After the name of a field write a colon and a space: `count: 300`.',
  TAB_AS_INDENT: 'Indent with spaces.',
};

/** Items of the outermost sequence that are ready before its end, possibly none, and where the sequence begins. */
export interface EarlyItems {
  readonly items: readonly Node[];
  readonly at: Position;
}

/**
 * Reads a YAML text. Yields items of its outermost sequence as soon as they are ready, and returns the root with the
 * rest; `undefined` if the text has no root or was rejected. Long sequences are composed while they are parsed, a few
 * hundred items at a time, because the concrete syntax tree of 100,000 ids with comments would take 280 MB.
 */
export function* readYaml(text: string, problems: Problems): Generator<EarlyItems, Node | undefined> {
  const reader = new YamlReader(text, problems);
  const parser = new Parser();
  const lexer = new Lexer();
  const lexemes = new Lexemes(text);
  let count = 0;
  for (const lexeme of lexer.lex(text)) {
    lexemes.take(lexeme);
    for (const token of parser.next(lexeme)) reader.take(token);
    for (const idle of skipped(lexemes.idleAfter(parser.offset), lexer)) {
      for (const token of parser.next(idle)) reader.take(token);
    }
    if (reader.isOver) return reader.root();
    if (reader.rejects(lexemes, parser)) return undefined;
    if (++count % LEXEMES === 0) yield reader.takeFinished(parser.stack);
  }
  for (const token of parser.end()) reader.take(token);
  return reader.root();
}

/**
 * Makes the lexer skip idle lines, and returns the lexemes of a space and one comment with the same length together, so
 * that offsets stay right. Without the space, the library rejects the comment after the last value of a flow mapping.
 *
 * The lexer has no public way to skip characters, so its private field `pos` is changed. Tests fail if a version of the
 * library has renamed it.
 */
function skipped(idle: string, lexer: Lexer): readonly string[] {
  if (idle === '') return [];
  (lexer as unknown as { pos: number }).pos += idle.length;
  const lineEnd = idle.endsWith('\n') ? ['\n'] : [];
  const length = idle.length - lineEnd.length;
  if (length === 0) return lineEnd;
  return length === 1 ? [' ', ...lineEnd] : [' ', '#'.padEnd(length - 1), ...lineEnd];
}

class YamlReader {
  readonly #problems: Problems;
  readonly #lines: LineIndex;
  readonly #aliases: Aliases;
  readonly #composed: Composed;
  readonly #composer = new Composer(OPTIONS);
  readonly #documents: Document.Parsed[] = [];
  #outermost = 0;

  constructor(text: string, problems: Problems) {
    this.#problems = problems;
    this.#lines = new LineIndex(text);
    this.#aliases = new Aliases(problems);
    this.#composed = new Composed(this.#lines, problems);
  }

  /** Whether the text is rejected already, so that the rest need not be read. */
  get isOver(): boolean {
    return this.#documents.length > 1 || this.#outermost > MAX_OUTERMOST;
  }

  /** Takes a finished token of the outermost level: a document, a directive, a comment or an error. */
  take(token: CST.Token): void {
    this.#outermost++;
    if (token.type === 'directive') {
      this.#reject(token.offset, 'Directives such as %YAML are not supported. Remove the line.');
    }
    for (const document of this.#composer.next(token)) this.#documents.push(document);
  }

  /** Composes the finished items of long sequences, and returns those of the outermost sequence. */
  takeFinished(stack: readonly CST.Token[]): EarlyItems {
    let outermost: readonly YamlNode[] = [];
    let at = BEGINNING;
    for (const [depth, token] of stack.entries()) {
      if (!isSequence(token) || token.items.length < LONG) continue;
      const nodes = this.#composeSlice(token);
      if (depth === 1) {
        outermost = nodes;
        at = this.#lines.positionOf(token.offset);
      }
      this.#composed.keepEarly(token, depth === 1 ? [] : nodes);
    }
    return { items: this.#resolved(outermost), at };
  }

  /** Returns the root after the end of the text; `undefined` if the text has no document. */
  root(): Node | undefined {
    this.#documents.push(...this.#composer.end());
    const [document, second] = this.#documents;
    if (document === undefined) {
      this.#composer.streamInfo().errors.forEach((error) => this.#report(error));
      return undefined;
    }
    for (const { errors } of this.#documents) errors.forEach((error) => this.#report(error));
    if (second !== undefined)
      this.#reject(second.range[0], 'The file must contain one document. Remove the line `---`.');
    return this.#resolved([this.#composed.nodeOf(document.contents!)])[0];
  }

  /** Whether the text exceeds a bound, after which reading it could take long. Adds a problem. */
  rejects(lexemes: Lexemes, { stack, offset }: Parser): boolean {
    const reason = tooMuch(lexemes, stack);
    if (reason !== undefined) this.#reject(offset - lexemes.scalarLength, reason);
    return reason !== undefined;
  }

  #composeSlice(sequence: Sequence): readonly YamlNode[] {
    const composer = new Composer(OPTIONS);
    const value = takeSlice(sequence);
    const slice: CST.Document = { type: 'document', offset: sequence.offset, start: [], value };
    const [document] = [...composer.next(slice), ...composer.end()];
    for (const error of document!.errors) this.#report(error);
    const { items } = this.#composed.nodeOf(document!.contents!) as YamlNode & { items: YamlNode[] };
    return value.standsIn ? items.slice(1) : items;
  }

  #resolved(nodes: readonly YamlNode[]): readonly Node[] {
    this.#aliases.found = this.#composed.foundAnchor;
    return nodes.map((node) => this.#aliases.resolved(node) as Node);
  }

  #report(error: YAMLError): void {
    const { pos, code } = error;
    const remedy = REMEDIES[code];
    this.#reject(pos[0], `${messageOf(error).replace(/\.?$/, '.')}${remedy === undefined ? '' : ` ${remedy}`}`);
  }

  #reject(offset: number, message: string): void {
    this.#problems.addUnreadable(this.#lines.positionOf(offset), message);
  }
}

function tooMuch(lexemes: Lexemes, stack: readonly CST.Token[]): string | undefined {
  if (stack.length > MAX_DEPTH) return `Values are nested too deeply: at most ${MAX_DEPTH} levels are allowed.`;
  if (lexemes.scalarLength > MAX_VALUE_LENGTH) {
    return `This value is too long: at most ${MAX_VALUE_LENGTH} characters are allowed.`;
  }
  if (lexemes.properties > MAX_PROPERTIES) return 'This value has many anchors or tags. Keep at most one anchor.';
  const innermost = stack.at(-1);
  if (innermost === undefined) return undefined;
  if (isMapping(innermost) && innermost.items.length > MAX_ENTRIES) {
    return `This mapping has too many entries: at most ${MAX_ENTRIES} are allowed.`;
  }
  const { end = [] } = innermost as { end?: readonly unknown[] };
  return end.length > MAX_PROPERTIES
    ? 'This line has several values. Use brackets for a list, such as [1, 2].'
    : undefined;
}
