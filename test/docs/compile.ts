import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import type { Block } from './blocks.ts';

const here = fileURLToPath(new URL('.', import.meta.url));

interface Compiled {
  /** What the compiler has to say about the blocks, each as `page:line: message`. */
  readonly ofBlocks: readonly string[];
  /** The same about the packages and declarations that the blocks import, as `path:line: message`. Takes as long again. */
  readonly ofImports: () => readonly string[];
}

/** All blocks are one program, but each is a module that sees only what it imports, as when it is pasted into an empty project. */
export function compiled(blocks: readonly Block[]): Compiled {
  const byFile = new Map(blocks.map((block, index) => [`${here}block-${index}.ts`, block]));
  // The decorators of Nest are those of `experimentalDecorators`.
  const options = {
    ...testOptions(),
    experimentalDecorators: true,
    noUnusedLocals: false,
    noUnusedParameters: false,
  };
  const disk = ts.createCompilerHost(options);
  const host: ts.CompilerHost = {
    ...disk,
    getSourceFile(name, language, ...rest) {
      const block = byFile.get(name);
      if (block === undefined) return disk.getSourceFile(name, language, ...rest);
      return ts.createSourceFile(name, sourceOf(block), language);
    },
  };

  const program = ts.createProgram([...byFile.keys()], options, host);
  const isBlock = ({ fileName }: ts.SourceFile): boolean => byFile.has(fileName);
  const errorsIn = (files: readonly ts.SourceFile[]): string[] =>
    files
      .flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)])
      .map((diagnostic) => located(diagnostic, byFile));
  const ofProgram = [...program.getConfigFileParsingDiagnostics(), ...program.getOptionsDiagnostics()];
  return {
    ofBlocks: [
      ...[...ofProgram, ...program.getGlobalDiagnostics()].map((diagnostic) => located(diagnostic, byFile)),
      ...errorsIn(program.getSourceFiles().filter(isBlock)),
    ],
    ofImports: () => errorsIn(program.getSourceFiles().filter((file) => !isBlock(file))),
  };
}

// Makes every block a module, so that blocks do not see each other's names and may await.
function sourceOf(block: Block): string {
  return `${block.code}\nexport {};\n`;
}

function testOptions(): ts.CompilerOptions {
  const path = fileURLToPath(new URL('../../tsconfig.json', import.meta.url));
  const parsed = ts.getParsedCommandLineOfConfigFile(path, {}, { ...ts.sys, onUnRecoverableConfigFileDiagnostic });
  return parsed?.options ?? {};
}

function onUnRecoverableConfigFileDiagnostic(diagnostic: ts.Diagnostic): never {
  throw new Error(messageOf(diagnostic));
}

function located(diagnostic: ts.Diagnostic, byFile: ReadonlyMap<string, Block>): string {
  const { file, start } = diagnostic;
  if (file === undefined || start === undefined) return messageOf(diagnostic);
  const { line } = file.getLineAndCharacterOfPosition(start);
  const block = byFile.get(file.fileName);
  const place = block === undefined ? `${file.fileName}:${line + 1}` : `${block.page}:${block.line + line}`;
  return `${place}: ${messageOf(diagnostic)}`;
}

function messageOf(diagnostic: ts.Diagnostic): string {
  return ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n');
}
