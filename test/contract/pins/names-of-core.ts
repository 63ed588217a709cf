import { relative } from 'node:path';
import typescript, { type Node, type Program, type SourceFile, type Symbol, type TypeChecker } from 'typescript';
import { core } from './core-program.ts';

/** A name in the code of core. */
interface Name {
  readonly path: string;
  readonly line: number;
  /** Its words, and those of its type, in lower case. */
  readonly words: readonly string[];
  /** The files that declare it and its type. */
  readonly declaredIn: readonly string[];
}

/** What belongs to a kind of limit. */
export interface Kind {
  /** Folders of core. */
  readonly rooms: RegExp;
  readonly words: RegExp;
}

const STORES_AND_TESTS = /^(store|testing)\//;

/** All names in core, without those of its stores, of what it has for tests, of imports and of texts for people. */
export function namesOfCore(program: Program): readonly Name[] {
  const checker = program.getTypeChecker();
  const files = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(core));
  return files.filter((file) => !STORES_AND_TESTS.test(pathOf(file))).flatMap((file) => namesIn(file, file, checker));
}

/**
 * The lines that name a kind outside its rooms: by one of its words, or by what its rooms declare, under whatever name.
 */
export function linesNaming(names: readonly Name[], { rooms, words }: Kind): readonly string[] {
  const found = names.filter(
    (name) =>
      !rooms.test(name.path) &&
      (name.words.some((word) => words.test(word)) || name.declaredIn.some((path) => rooms.test(path))),
  );
  return [...new Set(found.map(({ path, line }) => `${path}:${line}`))];
}

function namesIn(node: Node, file: SourceFile, checker: TypeChecker): readonly Name[] {
  if (typescript.isImportDeclaration(node) || typescript.isExportDeclaration(node)) return [];
  const names: Name[] = [];
  const text = textOf(node);
  if (text !== undefined) {
    const symbols = typescript.isIdentifier(node) ? symbolsOf(node, checker) : [];
    names.push({
      path: pathOf(file),
      line: file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1,
      words: [text, ...symbols.map(({ name }) => name)].flatMap(wordsIn),
      declaredIn: symbols.flatMap(({ declarations = [] }) => declarations.map((each) => pathOf(each.getSourceFile()))),
    });
  }
  node.forEachChild((child) => void names.push(...namesIn(child, file, checker)));
  return names;
}

function textOf(node: Node): string | undefined {
  if (typescript.isIdentifier(node) || typescript.isPrivateIdentifier(node)) return node.text;
  return typescript.isStringLiteralLike(node) && !node.text.includes(' ') ? node.text : undefined;
}

/** What a name stands for, and its type. */
function symbolsOf(node: Node, checker: TypeChecker): readonly Symbol[] {
  const symbol = checker.getSymbolAtLocation(node);
  const { aliasSymbol, symbol: ofType } = checker.getNonNullableType(checker.getTypeAtLocation(node));
  return [symbol, aliasSymbol ?? ofType].filter((each) => each !== undefined);
}

/** The words of a name in camel case, in lower case. */
function wordsIn(text: string): readonly string[] {
  return (text.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []).map((word) => word.toLowerCase());
}

function pathOf({ fileName }: SourceFile): string {
  return relative(core, fileName);
}
