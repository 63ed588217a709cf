import { countText } from '../../console/number-text.ts';
import { about, band, partOf, successPart } from '../counting/figures-text.ts';
import type { Band } from '../counting/band.ts';
import type { ReplayReport } from '../counting/report.ts';
import { markup, type Markup } from '../../pages/markup.ts';

/** Draws what all limits together would have done, as a few large figures. */
export function drawFigures(report: ReplayReport): Markup {
  const figures = [...deniedClients(report), ...deniedRequests(report), ...otherRequests(report)];
  return markup`<dl class="figures">
${figures.map(
  ({ title, figure, detail }) =>
    markup`<div><dt>${title}</dt><dd>${figure}</dd><dd class="quiet">${detail}</dd></div>\n`,
)}</dl>
`;
}

interface Figure {
  readonly title: string;
  readonly figure: string;
  readonly detail: string;
}

/** Each limit counts clients of its own, so those of several limits have no sum. */
function deniedClients({ limits }: ReplayReport): Figure[] {
  const limit = limits.toSorted((a, b) => b.deniedIds.high - a.deniedIds.high)[0]!;
  const { name, deniedIds, ids } = limit;
  const figure = `${about(limit)}${band(deniedIds)} of ${countText(ids)}`;
  const ofLimit = limits.length > 1 ? `, by ${name}, the most of all limits` : '';
  return [{ title: 'clients denied at least once', figure, detail: `${partOf(deniedIds, ids)} of them${ofLimit}` }];
}

function deniedRequests({ totals, mostDenied }: ReplayReport): Figure[] {
  const { requests, denied, deniedSuccesses } = totals;
  return [
    { title: 'requests denied', figure: band(denied), detail: ofAll(denied, requests) },
    ...mostDenied.slice(0, 1).map((most) => ({
      title: 'denied requests of one client',
      figure: partOf(most.denied, denied.high),
      detail: `${band(most.denied)} of ${band(denied)}, of the client that was denied most`,
    })),
    {
      title: 'denied requests that had succeeded',
      figure: band(deniedSuccesses),
      detail: `${successPart(totals)} of the denied requests had a response of status 200 to 299`,
    },
  ];
}

function otherRequests({ totals: { requests, delayed, undecidable } }: ReplayReport): Figure[] {
  const figures: Figure[] = [];
  if (delayed.high > 0)
    figures.push({ title: 'requests delayed', figure: band(delayed), detail: ofAll(delayed, requests) });
  if (undecidable > 0)
    figures.push({
      title: 'not decided',
      figure: countText(undecidable),
      detail: 'requests with a cost above the burst',
    });
  return figures;
}

function ofAll(part: Band, requests: number): string {
  return `${partOf(part, requests)} of ${countText(requests)}`;
}
