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
  return ts.getPreEmitDiagnostics(program).filter(isOurs).map(asText);
}

// Express, Koa and Fastify answer for the declarations that they bring.
function isOurs({ file }: ts.Diagnostic): boolean {
  return file === undefined || !file.fileName.includes('/node_modules/') || file.fileName.includes('/@sluice/');
}

function asText(diagnostic: ts.Diagnostic): string {
  return ts.formatDiagnostic(diagnostic, {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: () => '/',
    getNewLine: () => '\n',
  });
}
