import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const typed = `${root}test/types/typed-handlers.test-d.ts`;

const nodenext = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext };
const bundler = { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler };
const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };

/**
 * The settings of a project that change what compiles. `npm run check -- lint` compiles under the strictest, and
 * `npm run trial -- types-settings` under all of these.
 */
const settings: Record<string, ts.CompilerOptions> = {
  'bundler, not strict': { ...bundler, strict: false },
};

const rare: Record<string, ts.CompilerOptions> = {
  bundler: { ...bundler, ...strict },
  'node10 into CommonJS': {
    ...strict,
    module: ts.ModuleKind.CommonJS,
    moduleResolution: ts.ModuleResolutionKind.Node10,
    esModuleInterop: true,
    ignoreDeprecations: '6.0',
  },
  'nodenext, as strict as it gets': { ...nodenext, ...strict },
  'strict alone': { ...nodenext, strict: true },
  'strict without checks of function types': { ...nodenext, ...strict, strictFunctionTypes: false },
  node16: { ...strict, module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16 },
  'the types of browsers': { ...nodenext, ...strict, lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'] },
};
const tried = process.env.SLUICE_TYPE_SETTINGS === 'all' ? { ...settings, ...rare } : settings;

if (!existsSync(`${root}packages/core/dist/index.d.mts`)) {
  throw new Error('The packages have no declarations. Run npm run setup -- --declarations.');
}

/** Files as they were parsed: most are the same in several settings. */
const parsed = new Map<string, ts.SourceFile | undefined>();

/** The parsed declarations do not depend on the settings, but for the format that a package gives them. */
function compilerHost(options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  const parse = host.getSourceFile.bind(host);
  host.getSourceFile = (name, languageVersion) => {
    const { impliedNodeFormat } = languageVersion as ts.CreateSourceFileOptions;
    const key = `${name} ${String(impliedNodeFormat)}`;
    if (!parsed.has(key)) parsed.set(key, parse(name, languageVersion));
    return parsed.get(key);
  };
  return host;
}

function errors(settingsOf: ts.CompilerOptions): string[] {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts'],
    types: ['node'],
    typeRoots: [`${root}node_modules/@types`],
    skipLibCheck: true,
    noEmit: true,
    ...settingsOf,
  };
  const program = ts.createProgram([typed], options, compilerHost(options));
  const found = [...program.getOptionsDiagnostics(), ...program.getSemanticDiagnostics(program.getSourceFile(typed))];
  return found.map(({ file, start = 0, messageText }) => {
    const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line + 1;
    return `${line}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
}

describe('middlewares beside handlers with types of their own compile', () => {
  test.each(Object.entries(tried))('under %s', (_name, options) => {
    expect(errors(options)).toEqual([]);
  });
});

test('every option of ours may be undefined, as a variable of the environment is', () => {
  const names = readdirSync(`${root}api`).filter((name) => !name.includes('-kit.'));
  const demanding = names.flatMap((name) => {
    const report = readFileSync(`${root}api/${name}`, 'utf8');
    return [...report.matchAll(OPTIONS)].flatMap(([block, type]) =>
      [...block.matchAll(/^ {4}readonly (\w+)\?: (.*);$/gm)]
        .filter(([, , of]) => !/undefined|^never$|\['\w+'\]$/.test(of!))
        .map(([, option]) => `${name}: ${type}.${option}`),
    );
  });
  expect(demanding).toEqual([]);
});

/** What users write, as the reports of the public types show it. */
const OPTIONS =
  /^export (?:interface|type) (\w*(?:Options|Settings|Definition|Numbers|Use|Limits?|Format|Store|Traits|Address))\b.*?^\}/gms;
