import { createHash } from 'node:crypto';
import { markup, Markup, NOTHING } from '../../pages/markup.ts';
import { captionOf, cellsOf, columnsOf } from '../counting/report-lines.ts';
import type { ClientReport, SimulationReport } from '../counting/report.ts';
import { picture } from './picture.ts';
import { PAGE_STYLE } from './style.ts';

/** Nothing is loaded, no script runs, and no style but that of the page applies. */
const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(PAGE_STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'`;

/** Returns a report as one HTML page without scripts, which loads nothing. */
export function simulationPage({ title, description, clients }: SimulationReport): string {
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${new Markup(PAGE_STYLE)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${description === '' ? NOTHING : markup`<p>${description}</p>\n`}<div class="scroll" role="region" aria-label="Picture" tabindex="0">
${picture(title, clients, NOTHING)}</div>
${clients.map(drawTable)}</main>
</body>
</html>
`.text;
}

function drawTable(client: ClientReport, index: number): Markup {
  const rows = client.results.map(cellsOf).map(([name = '', ...figures]) => {
    return markup`<tr><th scope="row">${name}</th>${figures.map((text) => markup`<td>${text}</td>`)}</tr>\n`;
  });
  return markup`<h2 id="client${index}">${captionOf(client)}</h2>
<div class="scroll" role="region" aria-labelledby="client${index}" tabindex="0"><table>
<thead><tr>${columnsOf(client).map((column) => markup`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>
${rows}</tbody>
</table></div>
`;
}
