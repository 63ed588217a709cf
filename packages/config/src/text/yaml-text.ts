import { Composer, Lexer, Parser, type CST, type Document, type YAMLError } from 'yaml';
import type { Findings } from '../findings.ts';
import type { Node } from '../node.ts';
import { Aliases } from './aliases.ts';
import { Composed, type YamlNode } from './composed.ts';
import { isSequence, takeSlice, type Sequence } from './slice.ts';
import { LineIndex } from './line-index.ts';

/** Deeper than any file of limits is: an id with a comment stands at the sixth level. */
const MAX_DEPTH = 32;
/** How many lexemes are read between two looks for sequences that grow long. */
const LEXEMES = 2048;
/** From how many items on the finished ones of a sequence are composed before its end. */
const LONG = 256;

const OPTIONS = { keepSourceTokens: true, uniqueKeys: false, prettyErrors: false } as const;

/**
 * Reads a YAML text: yields the first items of its outermost sequence as soon as they are ready, and returns its root
 * with the rest, or `undefined` when there is none. Long sequences are composed while they are parsed, a few hundred
 * items at a time: the concrete syntax tree of 100,000 ids with comments is 280 MB otherwise.
 */
export function* readYaml(text: string, findings: Findings): Generator<readonly Node[], Node | undefined> {
  const reader = new YamlReader(text, findings);
  const parser = new Parser();
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) reader.take(token);
    if (parser.stack.length > MAX_DEPTH) return reader.refuseDepth(parser.offset);
    if (++lexemes % LEXEMES === 0) yield reader.takeFinished(parser.stack);
  }
  for (const token of parser.end()) reader.take(token);
  return reader.root();
}

class YamlReader {
  readonly #findings: Findings;
  readonly #lines: LineIndex;
  readonly #aliases: Aliases;
  readonly #composed: Composed;
  readonly #composer = new Composer(OPTIONS);
  readonly #documents: Document.Parsed[] = [];

  constructor(text: string, findings: Findings) {
    this.#findings = findings;
    this.#lines = new LineIndex(text);
    this.#aliases = new Aliases(findings);
    this.#composed = new Composed(this.#lines, findings);
  }

  /** Takes a finished token of the outermost level: a document, or what stands around it. */
  take(token: CST.Token): void {
    if (token.type === 'directive') {
      this.#refuse(token.offset, 'Directives such as %YAML have no meaning here. Leave the line out.');
    }
    for (const document of this.#composer.next(token)) this.#documents.push(document);
  }

  /** Composes the finished items of long sequences. Gives those of the outermost one. */
  takeFinished(stack: readonly CST.Token[]): readonly Node[] {
    let outermost: readonly YamlNode[] = [];
    for (const [depth, token] of stack.entries()) {
      if (!isSequence(token) || token.items.length < LONG) continue;
      const nodes = this.#composeSlice(token);
      if (depth === 1) outermost = nodes;
      this.#composed.keepEarly(token, depth === 1 ? [] : nodes);
    }
    return this.#resolved(outermost);
  }

  /** The root, when the text has ended. */
  root(): Node | undefined {
    this.#documents.push(...this.#composer.end());
    const [document, second] = this.#documents;
    if (document === undefined) return undefined;
    for (const { errors } of this.#documents) errors.forEach((error) => this.#report(error));
    if (second !== undefined) this.#refuse(second.range[0], 'A file must be one document. Leave out the line `---`.');
    return this.#resolved([this.#composed.nodeOf(document.contents!)])[0];
  }

  refuseDepth(offset: number): undefined {
    this.#refuse(offset, `Values may be nested at most ${MAX_DEPTH} deep, and here they are deeper.`);
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

  #report({ pos, code, message }: YAMLError): void {
    const remedy = code === 'TAB_AS_INDENT' ? ' Indent with spaces.' : '';
    this.#refuse(pos[0], `${message.replace(/\.?$/, '.')}${remedy}`);
  }

  #refuse(offset: number, message: string): void {
    this.#findings.addUnreadable(this.#lines.placeOf(offset), message);
  }
}
