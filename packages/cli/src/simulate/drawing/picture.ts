import { Markup, markup } from '../../pages/markup.ts';
import type { SimulationReport } from '../counting/report.ts';
import { drawPanel, PANEL_HEIGHT, WIDTH } from './panel.ts';
import { descriptionOf } from './description.ts';
import { PICTURE_STYLE } from './style.ts';

/** Returns a report as a picture: a file of SVG with a panel for each client, and colours for light and dark pages. */
export function simulationPicture({ title, clients }: SimulationReport): string {
  const height = PANEL_HEIGHT * clients.length;
  return markup`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title desc">
<title id="title">${title}</title>
<desc id="desc">${clients.map(descriptionOf).join(' ')}</desc>
<style>${new Markup(PICTURE_STYLE)}</style>
<rect class="ground" width="${WIDTH}" height="${height}"/>
${clients.map((client, i) => markup`<g transform="translate(0 ${PANEL_HEIGHT * i})">\n${drawPanel(client)}</g>\n`)}</svg>
`.text;
}
