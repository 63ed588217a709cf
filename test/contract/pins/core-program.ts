import { readFileSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import typescript, { type Node, type Program, type SourceFile } from 'typescript';

const {
  createCompilerHost,
  createProgram,
  createSourceFile,
  ModuleKind,
  parseJsonConfigFileContent,
  readConfigFile,
  ScriptTarget,
  sys,
} = typescript;

const root = fileURLToPath(new URL('../../../', import.meta.url));
const core = `${root}packages/core/src/`;
const { config } = readConfigFile(`${root}tsconfig.json`, (path) => sys.readFile(path)) as { config: object };
const { options, fileNames } = parseJsonConfigFileContent({ ...config, include: ['packages/core/src'] }, sys, root);

/** The list of kinds. */
const KINDS = 'kinds/index.ts';

/** By path and text, because most files are the same in all programs. */
const parsed = new Map<string, SourceFile>();

function parsedFile(path: string, text: string): SourceFile {
  const key = `${path}\n${text}`;
  const file =
    parsed.get(key) ??
    createSourceFile(path, text, { languageVersion: ScriptTarget.ES2022, impliedNodeFormat: ModuleKind.ESNext }, true);
  parsed.set(key, file);
  return file;
}

/** Compiles the sources of core. @param textOf - Returns another text for a file, or undefined for one that is not there. */
export function compiledCore(textOf: (path: string, text: string) => string | undefined = (_, text) => text): Program {
  const host = createCompilerHost(options);
  const read = (path: string): string | undefined => {
    const text = sys.readFile(path);
    return text === undefined || !path.startsWith(core) ? text : textOf(relative(core, path), text);
  };
  Object.assign(host, {
    readFile: read,
    fileExists: (path: string) => sys.fileExists(path) && (!path.startsWith(core) || read(path) !== undefined),
    getSourceFile: (path: string) => {
      const text = read(path);
      return text === undefined ? undefined : parsedFile(path, text);
    },
  });
  return createProgram(
    fileNames.filter((path) => host.fileExists(path)),
    options,
    host,
  );
}

/** The files of core that do not compile without the folder of a kind, and without its name in the list of kinds. */
export function brokenWithoutKind(kind: string): readonly string[] {
  const folder = `kinds/${kind}/`;
  const named = new RegExp(`^import .*'\\./${kind}/.*\\n|, ${kind}\\b| \\| typeof ${kind}\\b`, 'gm');
  return brokenIn(
    compiledCore((path, text) => {
      if (path.startsWith(folder)) return undefined;
      return path === KINDS ? text.replace(named, '') : text;
    }),
  );
}

/** The files of core that do not compile without the members of a name. Those of a folder of its own are not counted. */
export function brokenWithoutOption(option: string): readonly string[] {
  const member = new RegExp(`^ *(readonly )?${option}\\??: [^;{}()]*;$`, 'gm');
  const broken = brokenIn(compiledCore((_, text) => text.replace(member, '')));
  return broken.filter((path) => !path.startsWith(`kinds/${option}/`));
}

function brokenIn(program: Program): readonly string[] {
  const own = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(core));
  const broken = own.filter((file) => program.getSemanticDiagnostics(file).length > 0);
  return broken.map(({ fileName }) => relative(core, fileName));
}

const ASKED = ['id', 'cost', 'mode', 'share', 'limit'];

/** The types of core with three or more of the properties of a limit that is asked. */
export function typesOfAsking(program: Program): readonly string[] {
  const checker = program.getTypeChecker();
  const found: string[] = [];
  const visit = (node: Node): void => {
    if (
      typescript.isInterfaceDeclaration(node) ||
      typescript.isClassDeclaration(node) ||
      typescript.isTypeAliasDeclaration(node)
    ) {
      const type = checker.getTypeAtLocation(node.name!);
      const names = ASKED.filter((name) => checker.getPropertyOfType(type, name) !== undefined);
      if (names.length >= 3) found.push(`${basename(node.getSourceFile().fileName)} ${node.name!.text}`);
    }
    node.forEachChild(visit);
  };
  for (const file of program.getSourceFiles()) if (file.fileName.startsWith(core)) visit(file);
  return found;
}

/** The names that a file of core exports. */
export function exportedBy(program: Program, path: string): readonly string[] {
  const checker = program.getTypeChecker();
  const symbol = checker.getSymbolAtLocation(program.getSourceFile(core + path)!)!;
  return checker.getExportsOfModule(symbol).map(({ name }) => name);
}

/** Counts the lines of files that are left without comments, blank lines, types, imports and texts. */
export function linesOfLogic(paths: readonly string[]): number {
  const compilerOptions = { target: ScriptTarget.ES2022, module: options.module!, removeComments: true };
  const code = paths.map((path) => typescript.transpile(readFileSync(path, 'utf8'), compilerOptions));
  const isLogic = (line: string): boolean => !/^\s*(\W*$|import |export \* |export \{|["'`+])/.test(line);
  return code.flatMap((text) => text.split('\n')).filter(isLogic).length;
}
