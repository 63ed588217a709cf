// Runs TypeScript for the pins: without comments, so that all lines are code, and each function reports where it is.
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import typescript from 'typescript';

const { createSourceFile, isArrowFunction, isBlock, isFunctionLike, ModuleKind, ScriptTarget, transpileModule } =
  typescript;

if (isMainThread) {
  globalThis.sluiceEntered = () => {};
  register(import.meta.url);
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context);
  const compilerOptions = {
    module: ModuleKind.ESNext,
    target: ScriptTarget.ES2022,
    verbatimModuleSyntax: true,
    useDefineForClassFields: false,
    removeComments: true,
  };
  const text = await readFile(fileURLToPath(url), 'utf8');
  const { outputText } = transpileModule(text, { compilerOptions });
  const source = /\/(packages|tools)\//.test(url) ? reporting(outputText, url) : outputText;
  return { format: 'module', source, shortCircuit: true };
}

/**
 * Lets each function call `sluiceEntered` when it is entered. No line is added.
 *
 * @param {string} text
 * @param {string} url
 */
function reporting(text, url) {
  /** @type {{ at: number, text: string }[]} */
  const inserted = [];
  const call = `sluiceEntered(${JSON.stringify(url)})`;
  const visit = (/** @type {import('typescript').Node} */ node) => {
    const body =
      isFunctionLike(node) && 'body' in node ? /** @type {import('typescript').Node} */ (node.body) : undefined;
    if (body !== undefined && isBlock(body)) inserted.push({ at: body.getStart(file) + 1, text: `${call};` });
    else if (body !== undefined && isArrowFunction(node))
      inserted.push({ at: body.getStart(file), text: `(${call}, ` }, { at: body.end, text: ')' });
    node.forEachChild(visit);
  };
  const file = createSourceFile('file.js', text, ScriptTarget.ES2022);
  visit(file);
  let all = text;
  for (const { at, text: more } of inserted.toSorted((one, other) => other.at - one.at))
    all = all.slice(0, at) + more + all.slice(at);
  return all;
}
