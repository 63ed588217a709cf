import { countText } from '../../console/number-text.ts';
import { about, band, partOf, share, successPart } from '../counting/figures-text.ts';
import { numbersText } from '../../limits/limit-kind.ts';
import { isShorterThanPeriod, smallestSize } from '../counting/smallest-size.ts';
import type { InputReport, LimitReport, ReplayReport } from '../counting/report.ts';
import { drawCurve } from './curve-chart.ts';
import { markup, NOTHING, type Markup } from '../../pages/markup.ts';
import { drawTable } from '../../pages/table.ts';

/** Draws what each limit would have done, with its curve. */
export function drawLimits({ limits, leftOut, input }: ReplayReport): Markup {
  if (limits.length === 0 && leftOut.length === 0) return NOTHING;
  return markup`<h2>Limits</h2>
${limits.length === 0 ? NOTHING : drawLimitTable(limits)}${limits.map((each) => drawLimit(each, input, each === limits.find(isRate)))}${limits.length > 1 ? ALONE : NOTHING}${leftOut.length === 0 ? NOTHING : drawLeftOut(leftOut)}`;
}

const ALONE = markup`<p>Each curve and smallest burst is about one limit alone. The other figures are about all limits together: a request that one limit denies takes no tokens of the others.</p>
`;

function drawLimitTable(limits: readonly LimitReport[]): Markup {
  return drawTable({
    id: 'limits',
    caption: 'Clients and requests that each limit would have denied',
    columns: {
      limit: 'long',
      clients: 'number',
      denied: 'number',
      'of all': 'part',
      requests: 'number',
      'requests denied': 'number',
      'of all requests': 'part',
      'of these had succeeded': 'part',
    },
    rows: limits.map((each) => [
      each.name,
      about(each) + countText(each.ids),
      about(each) + band(each.deniedIds),
      partOf(each.deniedIds, each.ids),
      countText(each.requests),
      band(each.denied),
      partOf(each.denied, each.requests),
      successPart(each),
    ]),
  });
}

const NO_CURVE =
  'it borrows from a pool, all of its clients have overrides, or more requests were in progress than could be counted';

function isRate({ kind }: LimitReport): boolean {
  return kind === 'rate';
}

const BURST = ' The burst is how many requests a client may send at once after a pause.';

function drawLimit(limit: LimitReport, input: InputReport, explainsBurst: boolean): Markup {
  const { name, key, curve } = limit;
  return markup`<h3>${name}</h3>
<p>${numbersText(limit)}, by ${key}.${explainsBurst ? BURST : ''}</p>
<ul>
${factsOf(limit).map((fact) => markup`<li>${fact}</li>\n`)}</ul>
${drawSmallest(limit, input)}${curve === null ? markup`<p>It has no curve: ${NO_CURVE}.</p>\n` : drawCurve(limit, curve, input)}`;
}

function drawSmallest(limit: LimitReport, input: InputReport): Markup {
  const smallest = smallestSize(limit, input, 'clients');
  if (smallest === undefined) return NOTHING;
  const isKnown = limit.suggestion !== null && !isShorterThanPeriod(limit, input);
  const hasRoom = isKnown && limit.burst > limit.suggestion.burst;
  const room = hasRoom ? ` The ${countText(limit.burst)} of this limit leave room for busier days.` : '';
  return markup`<p>Smallest ${smallest}.${room}</p>\n`;
}

function factsOf(limit: LimitReport): string[] {
  const { requests, denied, deniedSuccesses, delayed, ids, deniedIds, sampling } = limit;
  const fact = (number: number, text: string): string[] => (number > 0 ? [text] : []);
  return [
    `denied ${share(denied, requests)} requests, of which ${band(deniedSuccesses)} had succeeded`,
    `denied ${about(limit) + share(deniedIds, ids)} clients at least once`,
    ...fact(sampling - 1, `the numbers of clients are estimates: one in ${countText(sampling)} was counted`),
    ...fact(delayed.high, `delayed ${share(delayed, requests)} requests, which would have waited`),
    ...fact(
      limit.overridden,
      `${countText(limit.overridden)} requests are of clients with overrides, which have numbers of their own`,
    ),
    ...fact(limit.withoutId, `${countText(limit.withoutId)} requests have no id, and the limit does not apply to them`),
    ...fact(
      limit.invalidIds,
      `${countText(limit.invalidIds)} requests have an invalid id, for example ${limit.invalidExample ?? ''}`,
    ),
  ];
}

function drawLeftOut(leftOut: ReplayReport['leftOut']): Markup {
  return markup`<h3>Limits that were not replayed</h3>
<ul>
${leftOut.map(({ limit, reason }) => markup`<li>${limit}: ${reason}</li>\n`)}</ul>
`;
}
