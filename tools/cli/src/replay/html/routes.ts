import { countText } from '../../console/number-text.ts';
import { band, deniedRoutes, partOf, routeIds } from '../counting/figures-text.ts';
import type { ReplayReport } from '../counting/report.ts';
import { markup, NOTHING, type Markup } from '../../pages/markup.ts';
import { drawTable } from '../../pages/table.ts';

/** Routes of the table. All of them are in the data of the page. */
const MAX_SHOWN = 50;

/** Draws the routes by their denied requests, most first. */
export function drawRoutes({ routes, limits, totals }: ReplayReport): Markup {
  if (totals.requests === 0) return NOTHING;
  const denied = deniedRoutes(routes);
  if (denied.length === 0) return markup`<h2>Routes</h2>\n<p>No request of any route would have been denied.</p>\n`;
  const rest = denied.length - MAX_SHOWN;
  return markup`<h2>Routes</h2>
${drawTable({
  id: 'routes',
  caption: 'Requests and clients that would have been denied, by route',
  columns: { route: 'long', requests: 'number', denied: 'number', 'of all': 'part', 'clients denied': 'long' },
  rows: denied
    .slice(0, MAX_SHOWN)
    .map((each) => [
      each.route,
      countText(each.requests),
      band(each.denied),
      partOf(each.denied, each.requests),
      routeIds(each, limits, 'client'),
    ]),
})}${rest > 0 ? markup`<p class="quiet">${countText(rest)} more routes with denied requests are in the data of this page.</p>\n` : NOTHING}`;
}
