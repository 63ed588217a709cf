// The room text: YAML and JSON, safe against hostile texts, with the place of each value and mistake.
import { Composer, Lexer, LineCounter, Parser, type CST, type Document, type ErrorCode, type YAMLError } from 'yaml';
import { messageOf } from '@sluice/core/kit';
import type { Problems } from '../nodes/problems.ts';
import type { Node } from '../nodes/node.ts';
import { MAX_VALUE_LENGTH } from './utf8.ts';
import { YamlNodes } from './yaml-nodes.ts';

/** The maximum depth of the parser's stack. Real files need much less. */
const MAX_DEPTH = 32;
/** How many lexemes are read between two turns of the event loop: well under a millisecond. */
const LEXEMES = 256;
/** The maximum number of entries in a mapping: far more than real files have, and read within a second. */
const MAX_ENTRIES = 10_000;
/** The maximum number of tokens of the outermost level beside {@link BLANK} ones. A document is one; most others are errors. */
const MAX_OUTERMOST = 100;
const BLANK = new Set(['comment', 'newline', 'space']);
/** The maximum number of anchors and tags of a value. YAML allows one of each; the library reports a few more. */
const MAX_PROPERTIES = 100;
/** The lexer emits this character before each plain or block scalar. */
const SCALAR_FOLLOWS = '\u001F';

const OPTIONS = { uniqueKeys: false, prettyErrors: false } as const;

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

/**
 * Reads a YAML text. Yields when the event loop may run, and returns the root; `undefined` if the text has none or was
 * rejected. What remains is composed at once.
 */
export function* readYaml(text: string, problems: Problems): Generator<void, Node | undefined> {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const reader = new YamlReader(lines, problems);
  const parser = new Parser(lines.addNewLine);
  const lexemes = new Lexemes();
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    lexemes.take(lexeme);
    for (const token of parser.next(lexeme)) reader.take(token);
    if (reader.isOver) return reader.root();
    if (reader.rejects(lexemes, parser)) return undefined;
    if (++count % LEXEMES === 0) yield;
  }
  for (const token of parser.end()) reader.take(token);
  return reader.root();
}

/** Counts what the bounds of a text are about. */
class Lexemes {
  #last = '';
  /** The length of the last lexeme if it is a scalar, quoted or not; otherwise 0. */
  scalarLength = 0;
  /** The number of anchors and tags since the last value. */
  properties = 0;

  take(lexeme: string): void {
    const isPlain = this.#last === SCALAR_FOLLOWS;
    this.#last = lexeme;
    const first = lexeme.charAt(0);
    this.scalarLength = isPlain || first === '"' || first === "'" ? lexeme.length : 0;
    if (isPlain) this.properties = 0;
    else if (!' \t\r\n#'.includes(first)) {
      this.properties = first === '&' || first === '!' ? this.properties + 1 : 0;
    }
  }
}

class YamlReader {
  readonly #problems: Problems;
  readonly #nodes: YamlNodes;
  readonly #composer = new Composer(OPTIONS);
  readonly #documents: Document.Parsed[] = [];
  #outermost = 0;

  constructor(lines: LineCounter, problems: Problems) {
    this.#problems = problems;
    this.#nodes = new YamlNodes(lines, problems);
  }

  /** Whether the text is rejected already, so that the rest need not be read. */
  get isOver(): boolean {
    return this.#documents.length > 1 || this.#outermost > MAX_OUTERMOST;
  }

  /** Takes a finished token of the outermost level: a document, a directive, a comment or an error. */
  take(token: CST.Token): void {
    if (!BLANK.has(token.type)) this.#outermost++;
    if (token.type === 'directive') {
      this.#reject(token.offset, 'Directives such as %YAML are not supported. Remove the line.');
    }
    for (const document of this.#composer.next(token)) this.#documents.push(document);
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
    return this.#nodes.nodeOf(document.contents!);
  }

  /** Whether the text exceeds a bound, after which reading it could take long. Adds a problem. */
  rejects(lexemes: Lexemes, { stack, offset }: Parser): boolean {
    const reason = tooMuch(lexemes, stack);
    if (reason !== undefined) this.#reject(offset - lexemes.scalarLength, reason);
    return reason !== undefined;
  }

  #report(error: YAMLError): void {
    const { pos, code } = error;
    const remedy = REMEDIES[code];
    this.#reject(pos[0], `${messageOf(error).replace(/\.?$/, '.')}${remedy === undefined ? '' : ` ${remedy}`}`);
  }

  #reject(offset: number, message: string): void {
    this.#problems.addUnreadable(this.#nodes.positionOf(offset), message);
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

/** Whether a token is a mapping, in either style. */
function isMapping(token: CST.Token): token is CST.BlockMap | CST.FlowCollection {
  return token.type === 'block-map' || (token.type === 'flow-collection' && token.start.type === 'flow-map-start');
}
