import { readFileSync, writeFileSync } from 'node:fs';
import type { Result } from './result.ts';
import { markdown, mostDecisionsTable, outcomeTable, type Table } from './tables.ts';

/** Replaces the tables of the pages, which are found by their titles. They still need `npm run format`. */
export function writeTables({ simulated, measured }: Result): void {
  const load = `(load average ${measured.loadAverage.toFixed(0)})`;
  const tables = [outcomeTable(simulated), mostDecisionsTable(measured)];
  writePage('measured/market-open.md', tables, (text) => text.replace(/\(load\s+average\s+\d+\)/, load));
}

function writePage(name: string, tables: readonly Table[], change = (text: string): string => text): void {
  const page = new URL(`../../../docs/${name}`, import.meta.url);
  const blocks = readFileSync(page, 'utf8').split('\n\n');
  for (const table of tables) {
    const titles = table[0]!.join();
    const at = blocks.findIndex((block) => titlesOf(block) === titles);
    if (at === -1) throw new Error(`docs/${name} has no table with the titles ${titles}.`);
    blocks[at] = markdown(table);
  }
  writeFileSync(page, change(blocks.join('\n\n')));
}

function titlesOf(block: string): string {
  const [first = ''] = block.split('\n');
  return first
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
    .join();
}
