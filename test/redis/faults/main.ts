// `npm run faults` tries every fault under every policy with every client, prints what came of it as Markdown, and
// fails when a promise was broken. `npm run faults -- --only SIGSTOP,closed` tries the cells that have all of these
// words; `--all-rows` prints a row for each cell instead of the worst of each fault and policy.
import { redisStore } from '@sluice/redis';
import { parseArgs } from 'node:util';
import { runCell, type Cell } from './cell.ts';
import { CLIENT_KINDS } from './clients.ts';
import { FAULTS } from './faults.ts';
import { figuresOf, type Figures } from './figures.ts';
import { brokenPromises } from './promises.ts';
import { fullTable, worstTable } from './table.ts';

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, 'all-rows': { type: 'boolean', default: false } },
});

const cells = chosen(values.only);
const done: Figures[] = [];
let broken = 0;

for (const [index, cell] of cells.entries()) {
  // oxlint-disable-next-line no-await-in-loop -- one after the other, so that none disturbs another
  const figures = figuresOf(cell, await runCell(cell, (client) => redisStore({ client })));
  done.push(figures);
  const sentences = brokenPromises(figures);
  broken += sentences.length;
  console.error(`${index + 1}/${cells.length} ${nameOf(cell)}: ${sentences.join('; ') || 'kept'}`);
}

console.log(values['all-rows'] ? fullTable(done) : worstTable(done));
console.log(`\n${done.length} cells, ${broken} broken promises`);
process.exitCode = broken === 0 && done.length > 0 ? 0 : 1;

function chosen(only: string): Cell[] {
  const all = FAULTS.flatMap((fault) =>
    (['local', 'closed', 'open'] as const).flatMap((policy) =>
      CLIENT_KINDS.map((client) => ({ fault, policy, client })),
    ),
  );
  const words = only.split(',').filter(Boolean);
  return all.filter((cell) => words.every((word) => nameOf(cell).includes(word)));
}

function nameOf({ fault, policy, client }: Cell): string {
  return `${fault.name}, ${policy}, ioredis${client.version} ${client.name}`;
}
