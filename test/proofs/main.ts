// `npm run trial -- prove` proves all theorems; `window lease` those whose names contain one of the texts. `--of <path>` proves
// those about a source. `--document` writes docs/proofs.md instead.
import { parseArgs } from 'node:util';
import { isUpToDate, writePage } from './document.ts';
import { askConditions } from './engine/shadows.ts';
import { prove } from './engine/prove.ts';
import { closeSolver, queries } from './engine/solver.ts';
import { toldProof } from './engine/told.ts';
import { emptyTheorems } from './theorems/empty.ts';
import { parts } from './theorems/index.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    of: { type: 'string' },
    document: { type: 'boolean', default: false },
  },
});
askConditions();
if (values.document) {
  await writePage(parts);
  closeSolver();
  process.exit();
}
const theorems = parts
  .flatMap((part) => part.theorems)
  .filter(({ name, sources }) => {
    const isNamed = positionals.length === 0 || positionals.some((text) => name.includes(text));
    return isNamed && (values.of === undefined || sources.includes(values.of));
  });
const start = performance.now();
let [proved, refuted] = [0, 0];
for (const theorem of theorems) {
  const proof = prove(theorem);
  if (proof.problem === undefined) proved++;
  else refuted++;
  console.log(toldProof(proof));
}
const isWhole = positionals.length === 0 && values.of === undefined;
if (isWhole) {
  for (const { theorem, problem } of emptyTheorems) {
    const found = prove(theorem).problem;
    if (found?.startsWith(problem) === true) continue;
    refuted++;
    console.log(`REFUTED  the engine itself: ${theorem.name} is not refused as empty, but: ${found ?? 'proved'}`);
  }
}
const seconds = ((performance.now() - start) / 1000).toFixed(1);
const solved = (queries.milliseconds / 1000).toFixed(1);
console.log(`${proved} theorems proved, ${refuted} refuted, in ${seconds} s (${queries.count} questions, ${solved} s)`);
closeSolver();
const isStale = isWhole && !(await isUpToDate(parts));
if (isStale) console.log('REFUTED  docs/proofs.md is not up to date: npm run trial -- prove --document');
process.exitCode = refuted === 0 && proved > 0 && !isStale ? 0 : 1;
