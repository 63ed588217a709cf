import { markup, Markup, type Content } from '../../pages/markup.ts';
import { cellsOf } from '../counting/report-lines.ts';
import type { ClientReport, SimulationReport } from '../counting/report.ts';
import { drawPanel, PANEL_HEIGHT, WIDTH } from './panel.ts';
import { PICTURE_STYLE } from './style.ts';

/** Returns a report as a picture: a file of SVG with colours for light and dark pages. */
export function simulationPicture({ title, clients }: SimulationReport): string {
  return picture(title, clients, markup`<style>${new Markup(PICTURE_STYLE)}</style>\n`).text;
}

/**
 * Draws a picture with a panel for each client.
 *
 * @param style - Nothing on a page that has the style.
 */
export function picture(title: string, clients: readonly ClientReport[], style: Content): Markup {
  const height = PANEL_HEIGHT * clients.length;
  return markup`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title desc">
<title id="title">${title}</title>
<desc id="desc">${clients.map(spoken).join(' ')}</desc>
${style}<rect class="ground" width="${WIDTH}" height="${height}"/>
${clients.map((client, i) => markup`<g transform="translate(0 ${PANEL_HEIGHT * i})">\n${drawPanel(client)}</g>\n`)}</svg>
`;
}

/** The result in words, for those who can't see the picture. */
function spoken({ client, requests, results }: ClientReport): string {
  const outcomes = results.map((result) => `${result.algorithm} allows ${cellsOf(result)[1]}`);
  return `Of ${requests} requests of ${client}, ${outcomes.join(', ')}.`;
}
