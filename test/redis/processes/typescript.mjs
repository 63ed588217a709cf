// `node --import ./test/redis/processes/typescript.mjs program.ts`: every Node that Sluice supports then runs
// TypeScript, by leaving out its types.
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { transform } from 'rolldown/utils';

if (isMainThread) register(import.meta.url);

/** As in tsconfig.json. @type {import('rolldown/utils').TransformOptions} */
const options = {
  typescript: { onlyRemoveTypeImports: true, removeClassFieldsWithoutInitializer: true },
  assumptions: { setPublicClassFields: true },
  sourcemap: true,
};

/** @type {import('node:module').LoadHook} */
export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context);
  const path = fileURLToPath(url);
  const { code, map, errors } = await transform(path, await readFile(path, 'utf8'), options);
  if (errors.length > 0) throw new AggregateError(errors, `${path} can't be read as TypeScript`);
  const mapping = Buffer.from(JSON.stringify(map)).toString('base64');
  const source = `${code}\n//# sourceMappingURL=data:application/json;base64,${mapping}`;
  return { format: 'module', source, shortCircuit: true };
}
