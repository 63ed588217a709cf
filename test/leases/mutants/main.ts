// `npm run trial -- mutants-leases` breaks leases on purpose, one change at a time, and fails if nothing notices one of them:
//
// - script: leaves out each line of sync.lua, and makes each of its conditions always true and always false
// - rules: breaks each rule of the code of processes, and runs the test that must find it
//
// It prints what was found in each of these mutants. `rules` tries one part, and `--only <text>` the lines or the
// rules that contain a text.
import { parseArgs } from 'node:util';
import { tryRuleMutants } from './rules.ts';
import { tryScriptMutants } from './script.ts';

const parts = { script: tryScriptMutants, rules: tryRuleMutants };
type Part = keyof typeof parts;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string', default: '' } },
});
const names = positionals.length > 0 ? positionals : Object.keys(parts);
for (const name of names) if (!(name in parts)) throw new Error(`No part ${name}: script, rules`);

const sum = { mutants: 0, survivors: 0 };
for (const name of names) {
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  const { mutants, survivors } = await parts[name as Part](values.only);
  sum.mutants += mutants;
  sum.survivors += survivors;
}
console.log(`\n${sum.mutants} mutants, ${sum.survivors} survive`);
process.exit(sum.survivors === 0 && sum.mutants > 0 ? 0 : 1);
