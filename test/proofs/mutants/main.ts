// `npm run mutants:proofs` breaks sources on purpose, one change at a time, and fails if no theorem about the source is
// refuted. It prints the scenario of each. `-- sync.lua cap` tries the mutants whose path or words contain one of the texts.
// `-- --change <path> <text> <by>` tries a change of yours.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { leaseMutants } from './lease-mutants.ts';
import type { Mutant } from './mutant.ts';
import { ruleMutants } from './rule-mutants.ts';
import { storeMutants } from './store-mutants.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Proves the theorems about the source of a mutant, up to the first one that is refuted. */
function tried(mutant: Mutant): { readonly isRefuted: boolean; readonly told: string } {
  const args = ['--conditions=@sluice/source', '--import', './test/proofs/engine/loader.mjs', 'test/proofs/main.ts'];
  const { stdout, stderr, status } = spawnSync(process.execPath, [...args, '--first', '--of', mutant.in], {
    cwd: root,
    env: { ...process.env, SLUICE_MUTANT: JSON.stringify(mutant) },
    encoding: 'utf8',
  });
  const at = stdout.indexOf('REFUTED');
  if (at < 0 && status !== 0) throw new Error(`The mutant can't be tried:\n${stdout}${stderr}`);
  return { isRefuted: at >= 0, told: stdout.slice(at).trimEnd() };
}

function chosen(args: readonly string[]): readonly Mutant[] {
  if (args[0] === '--change') {
    const [, path = '', replace = '', by = ''] = args;
    return [{ in: path, replace, by, about: 'a change by hand' }];
  }
  const all = [...ruleMutants, ...storeMutants, ...leaseMutants];
  return args.length === 0
    ? all
    : all.filter(({ in: path, about }) => args.some((text) => `${path} ${about}`.includes(text)));
}

const mutants = chosen(process.argv.slice(2));
let survivors = 0;
for (const mutant of mutants) {
  const { isRefuted, told } = tried(mutant);
  if (!isRefuted) survivors++;
  console.log(`${isRefuted ? 'refuted ' : 'SURVIVES'} ${mutant.in}: ${mutant.about}`);
  if (isRefuted) console.log(told.replaceAll(/^/gm, '    '));
}
console.log(`${mutants.length} mutants, ${survivors} survive`);
process.exitCode = survivors === 0 && mutants.length > 0 ? 0 : 1;
