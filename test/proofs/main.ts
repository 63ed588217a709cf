// `npm run prove` proves all theorems; `npm run prove -- exactly-burst leases` those whose names contain one of the texts.
import { askConditions } from './engine/shadows.ts';
import { prove } from './engine/prove.ts';
import { closeSolver, queries } from './engine/solver.ts';
import { toldProof } from './engine/told.ts';
import { parts } from './theorems/index.ts';

askConditions();
const wanted = process.argv.slice(2);
const theorems = parts
  .flatMap((part) => part.theorems)
  .filter(({ name }) => wanted.length === 0 || wanted.some((text) => name.includes(text)));
const start = performance.now();
let failed = 0;
for (const theorem of theorems) {
  const proof = prove(theorem);
  if (proof.problem !== undefined) failed++;
  console.log(toldProof(proof));
}
const seconds = ((performance.now() - start) / 1000).toFixed(1);
const solved = (queries.milliseconds / 1000).toFixed(1);
console.log(`${theorems.length - failed} theorems proved, ${failed} not, in ${seconds} s (${queries.count} questions, ${solved} s)`);
closeSolver();
process.exitCode = failed === 0 && theorems.length > 0 ? 0 : 1;
