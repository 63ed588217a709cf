import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import typescript, { type Program } from 'typescript';

const { createProgram, ModuleKind, parseJsonConfigFileContent, readConfigFile, ScriptTarget, sys } = typescript;

const root = fileURLToPath(new URL('../../../', import.meta.url));
/** The folder of its sources. */
export const core: string = `${root}packages/core/src/`;

export function compiledCore(): Program {
  const { config } = readConfigFile(`${root}tsconfig.json`, (path) => sys.readFile(path)) as { config: object };
  const { options, fileNames } = parseJsonConfigFileContent({ ...config, include: ['packages/core/src'] }, sys, root);
  return createProgram(fileNames, options);
}

/** The names that a file of core exports. */
export function exportedBy(program: Program, path: string): readonly string[] {
  const checker = program.getTypeChecker();
  const symbol = checker.getSymbolAtLocation(program.getSourceFile(core + path)!)!;
  return checker.getExportsOfModule(symbol).map(({ name }) => name);
}

/** By path, because most files are counted several times. */
const logic = new Map<string, number>();

/** Counts the lines of files that are left without comments, blank lines, types, imports and texts. */
export function linesOfLogic(paths: readonly string[]): number {
  return paths.reduce((sum, path) => {
    const lines = logic.get(path) ?? linesOfLogicIn(path);
    logic.set(path, lines);
    return sum + lines;
  }, 0);
}

function linesOfLogicIn(path: string): number {
  const compilerOptions = { target: ScriptTarget.ES2022, module: ModuleKind.NodeNext, removeComments: true };
  const code = typescript.transpile(readFileSync(path, 'utf8'), compilerOptions);
  return code.split('\n').filter((line) => !/^\s*(\W*$|import |export \* |export \{|["'`+])/.test(line)).length;
}
