import { readFileSync, writeFileSync } from 'node:fs';
import type { Result } from './result.ts';
import { markdown, mostDecisionsTable, openTable, simulatedTable } from './tables.ts';

const PAGE = new URL('../../../docs/leases.md', import.meta.url);

/** Replaces the tables of the page, which are found by their titles. They still need `npm run format`. */
export function writeTables({ simulated, measured }: Result): void {
  const blocks = readFileSync(PAGE, 'utf8').split('\n\n');
  for (const table of [simulatedTable(simulated), mostDecisionsTable(measured), openTable(measured)]) {
    const titles = table[0]!.join();
    const at = blocks.findIndex((block) => titlesOf(block) === titles);
    if (at === -1) throw new Error(`docs/leases.md has no table with the titles ${titles}.`);
    blocks[at] = markdown(table);
  }
  const load = `(load average ${measured.loadAverage.toFixed(0)})`;
  writeFileSync(PAGE, blocks.join('\n\n').replace(/\(load\s+average\s+\d+\)/, load));
}

function titlesOf(block: string): string {
  const [first = ''] = block.split('\n');
  return first
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
    .join();
}
