import { join } from 'node:path';
import ts from 'typescript';

const resolutions = {
  nodenext: { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext },
  node16: { module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16 },
  node10: {
    module: ts.ModuleKind.CommonJS,
    moduleResolution: ts.ModuleResolutionKind.Node10,
    esModuleInterop: true,
    ignoreDeprecations: '6.0',
  },
  bundler: { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
} satisfies Record<string, ts.CompilerOptions>;

export type Resolution = keyof typeof resolutions;

/** What the strict compiler has to say about the files and about every declaration of ours that they reach. */
export function compileErrors(folder: string, files: string[], resolution: Resolution): string[] {
  const program = ts.createProgram(
    files.map((file) => join(folder, file)),
    {
      ...resolutions[resolution],
      target: ts.ScriptTarget.ES2022,
      lib: ['lib.es2023.d.ts'],
      types: ['node'],
      typeRoots: [join(folder, 'node_modules', '@types')],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      noEmit: true,
    },
  );
  // Not of the declarations that Express, Koa, Fastify and Node bring: to check them takes most of the time.
  const ours = program.getSourceFiles().filter(isOurs);
  const ofFiles = ours.flatMap((file) => [
    ...program.getSyntacticDiagnostics(file),
    ...program.getSemanticDiagnostics(file),
  ]);
  return [
    ...program.getConfigFileParsingDiagnostics(),
    ...program.getOptionsDiagnostics(),
    ...ofFiles,
    ...program.getGlobalDiagnostics(),
  ].map(asText);
}

function isOurs({ fileName }: ts.SourceFile): boolean {
  return !fileName.includes('/node_modules/') || fileName.includes('/@sluice/');
}

function asText(diagnostic: ts.Diagnostic): string {
  return ts.formatDiagnostic(diagnostic, {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: () => '/',
    getNewLine: () => '\n',
  });
}
