// `npm run trial -- processes` simulates processes that share a limit: by one store, by leases, by split budgets, and by
// telling each other. It prints the figures of the docs, and with `--write` it draws their picture.
import { writeFileSync } from 'node:fs';
import { simulationLines } from '../../tools/cli/src/simulate/counting/report-lines.ts';
import { simulationPicture } from '../../tools/cli/src/simulate/drawing/picture.ts';
import { headOfTable, LOADS, rowOf } from './gossip-table.ts';
import { tenProcesses } from './ten-processes.ts';

const PICTURE = new URL('../../docs/compared/processes.svg', import.meta.url);

const report = await tenProcesses();
for (const line of simulationLines(report, { styled: (_, text) => text })) console.log(line);
if (process.argv.includes('--write')) writeFileSync(PICTURE, simulationPicture(report));
console.log();
for (const cells of headOfTable()) printRow(cells);
for (const load of LOADS) printRow(await rowOf(load));

function printRow(cells: readonly string[]): void {
  console.log(`| ${cells.join(' | ')} |`);
}
