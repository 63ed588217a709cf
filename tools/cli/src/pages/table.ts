import { markup, type Content, type Markup } from './markup.ts';

/** What a column contains. Numbers and parts in percent are on the right; long text may break anywhere. */
type ColumnKind = 'number' | 'part' | 'text' | 'long';

/** A table. The first cell of a row is its heading. */
export interface Table {
  /** The id of its caption, unique on the page. */
  readonly id: string;
  readonly caption: string;
  /** The kinds of the columns by their titles. */
  readonly columns: Readonly<Record<string, ColumnKind>>;
  readonly rows: readonly (readonly Content[])[];
}

/** Draws a table, which scrolls by itself where the page is narrow. */
export function drawTable({ id, caption, columns, rows }: Table): Markup {
  const kinds = Object.values(columns);
  return markup`<div class="scroll" role="region" aria-labelledby="${id}" tabindex="0"><table>
<caption id="${id}">${caption}</caption>
<thead><tr>${Object.entries(columns).map(([title, kind]) => markup`<th scope="col" class="${kind}">${title}</th>`)}</tr></thead>
<tbody>
${rows.map((row) => markup`<tr>${row.map((cell, i) => drawCell(cell, kinds[i]!, i === 0))}</tr>\n`)}</tbody>
</table></div>
`;
}

function drawCell(cell: Content, kind: ColumnKind, isHeading: boolean): Markup {
  return isHeading ? markup`<th scope="row" class="${kind}">${cell}</th>` : markup`<td class="${kind}">${cell}</td>`;
}
