// `npm run trial -- faults` tries every fault under every policy with every client, prints what came of it as Markdown, and
// fails when a promise was broken. `npm run trial -- faults --only SIGSTOP,closed` tries the cells that have all of these
// words; `--all-rows` prints a row for each cell instead of the worst of each fault and policy. Then it runs the scenarios
// with concurrency limits and with leases, of which `--only slots` and `--only leases` try all, and `--only slots,FLUSHALL`
// one.
import { redisStore } from '@sluice/redis';
import { parseArgs } from 'node:util';
import { runCell, type Cell } from './cell.ts';
import { CLIENT_KINDS } from './clients.ts';
import { FAULTS } from './faults.ts';
import { figuresOf, type Figures } from './figures.ts';
import { brokenLeasePromises, LEASE_COLUMNS, leaseRow } from '../leases/outcome.ts';
import { LEASE_SCENARIOS } from '../leases/scenarios.ts';
import { brokenSlotPromises, SLOT_COLUMNS, slotRow } from '../slots/outcome.ts';
import { SLOT_SCENARIOS } from '../slots/scenarios.ts';
import { running } from '../servers/running.ts';
import { brokenPromises } from './promises.ts';
import { fullTable, markdown, worstTable } from './table.ts';

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, 'all-rows': { type: 'boolean', default: false } },
});

const words = values.only.split(',').filter(Boolean);
const cells = allCells().filter((cell) => isChosen(nameOf(cell)));
const done: Figures[] = [];
let broken = 0;

for (const [index, cell] of cells.entries()) {
  // oxlint-disable-next-line no-await-in-loop -- one after the other, so that none disturbs another
  const figures = figuresOf(cell, await runCell(cell, (client) => redisStore({ client })));
  done.push(figures);
  note(`${index + 1}/${cells.length} ${nameOf(cell)}`, brokenPromises(figures));
}
if (done.length > 0) console.log(values['all-rows'] ? fullTable(done) : worstTable(done));
const slots = await runScenarios('slots', SLOT_SCENARIOS, {
  columns: SLOT_COLUMNS,
  row: slotRow,
  broken: brokenSlotPromises,
});
const leases = await runScenarios('leases', LEASE_SCENARIOS, {
  columns: LEASE_COLUMNS,
  row: leaseRow,
  broken: brokenLeasePromises,
});
const runs = done.length + slots + leases;
console.log(`\n${done.length} cells, ${slots + leases} scenarios, ${broken} broken promises`);
process.exitCode = broken === 0 && runs > 0 ? 0 : 1;

/** Runs the chosen scenarios of one kind, one after the other, prints their table, and returns how many there were. */
async function runScenarios<Outcome>(
  kind: string,
  all: readonly { readonly name: string; run(): Promise<Outcome> }[],
  table: {
    readonly columns: readonly string[];
    row(name: string, outcome: Outcome): string[];
    broken(outcome: Outcome): string[];
  },
): Promise<number> {
  const chosen = all.filter(({ name }) => isChosen(`${kind}: ${name}`));
  const rows: string[][] = [];
  for (const [index, scenario] of chosen.entries()) {
    // oxlint-disable-next-line no-await-in-loop
    const outcome = await scenario.run();
    // oxlint-disable-next-line no-await-in-loop
    await running.closeAllBut();
    rows.push(table.row(scenario.name, outcome));
    note(`${index + 1}/${chosen.length} ${kind}: ${scenario.name}`, table.broken(outcome));
  }
  if (rows.length > 0) console.log(`\n${markdown(table.columns, rows)}`);
  return rows.length;
}

function note(name: string, sentences: readonly string[]): void {
  broken += sentences.length;
  console.error(`${name}: ${sentences.join('; ') || 'kept'}`);
}

function allCells(): Cell[] {
  return FAULTS.flatMap((fault) =>
    (['local', 'closed', 'open'] as const).flatMap((policy) =>
      CLIENT_KINDS.map((client) => ({ fault, policy, client })),
    ),
  );
}

function isChosen(name: string): boolean {
  return words.every((word) => name.includes(word));
}

function nameOf({ fault, policy, client }: Cell): string {
  return `${fault.name}, ${policy}, ${client.library} ${client.options}`;
}
