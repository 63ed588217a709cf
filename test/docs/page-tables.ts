import { readFileSync } from 'node:fs';

/** A row of a table: its cells by the titles of their columns. */
export type Row = Readonly<Record<string, string>>;

/** The rows of all tables of a page of the docs below a heading of the second level, in their order. */
export function rowsOf(page: string, heading: string): readonly Row[] {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
  const section = text.split(/^## /m).find((each) => each.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`${page} has no section ${heading}.`);
  return [...section.matchAll(/(?:^\|.*\n)+/gm)].flatMap(([table]) => {
    const [titles = [], , ...rows] = table.trim().split('\n').map(cellsOf);
    return rows.map((cells) => Object.fromEntries(titles.map((title, i) => [title, cells[i] ?? ''])));
  });
}

/** A `|` in a cell is written as `\|`. */
function cellsOf(line: string): readonly string[] {
  return line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
}
