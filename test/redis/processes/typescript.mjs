// `node --import ./test/redis/processes/typescript.mjs program.ts`: every Node that Sluice supports then runs
// TypeScript, by leaving out its types.
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) register(import.meta.url);

/** @type {import('node:module').LoadHook} */
export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context);
  const { default: typescript } = await import('typescript');
  const { ModuleKind, ScriptTarget, transpileModule } = typescript;
  const text = await readFile(fileURLToPath(url), 'utf8');
  const compilerOptions = {
    module: ModuleKind.ESNext,
    target: ScriptTarget.ES2022,
    verbatimModuleSyntax: true,
    // As in tsconfig.json.
    useDefineForClassFields: false,
    inlineSourceMap: true,
  };
  const { outputText } = transpileModule(text, { compilerOptions, fileName: fileURLToPath(url) });
  return { format: 'module', source: outputText, shortCircuit: true };
}
