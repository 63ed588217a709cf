import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { linesOfLogic } from './core-program.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** A program that uses one rate. */
export const FIRST_PROGRAM = `import { rateLimit } from '@sluice/express'; rateLimit({ count: 100, period: '1m' });`;

interface Bundled {
  readonly code: string;
  /** The paths of the modules of our packages. */
  readonly modules: readonly string[];
}

/** What a program that uses one rate loads of our packages. */
export async function firstProgram(): Promise<
  Record<'modules' | 'lines' | 'lines of logic' | 'bytes' | 'bytes, gzipped', number>
> {
  const { code, modules } = await bundled(FIRST_PROGRAM);
  const lines = modules.map((path) => readFileSync(path, 'utf8').split('\n').length - 1);
  return {
    modules: modules.length,
    lines: lines.reduce((sum, each) => sum + each, 0),
    'lines of logic': linesOfLogic(modules),
    bytes: Buffer.byteLength(code),
    'bytes, gzipped': gzipSync(code).length,
  };
}

/** Which rooms that program loads: folders of core, and other packages, those with the most lines of logic first. */
export async function roomsOfFirstProgram(): Promise<Readonly<Record<string, { modules: number; logic: number }>>> {
  const { modules } = await bundled(FIRST_PROGRAM);
  const counted = [...new Set(modules.map(roomOf))].map((room) => {
    const paths = modules.filter((path) => roomOf(path) === room);
    return [room, { modules: paths.length, logic: linesOfLogic(paths) }] as const;
  });
  return Object.fromEntries(counted.toSorted(([, a], [, b]) => b.logic - a.logic));
}

function roomOf(path: string): string {
  const [, name, , ...rest] = relative(root, path).split('/');
  return rest.length > 1 ? `${name}/${rest.slice(0, -1).join('/')}` : name!;
}

/** Bundles a program with what it loads: what an import() could load counts, too. */
export async function bundled(program: string): Promise<Bundled> {
  const entry = 'first-program';
  const bundle = await rolldown({
    input: entry,
    platform: 'node',
    tsconfig: `${root}tsconfig.json`,
    resolve: { conditionNames: ['@sluice/source', 'import', 'node', 'default'] },
    plugins: [
      {
        name: entry,
        resolveId: (id) => (id === entry ? `${root}test/${entry}.ts` : null),
        load: (id) => (id.endsWith(`${entry}.ts`) ? program : null),
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'es', minify: true, codeSplitting: false });
  await bundle.close();
  const [{ code, moduleIds }] = output;
  return { code, modules: moduleIds.filter((id) => /^(packages|tools)\//.test(relative(root, id))) };
}
