import { band, count, percent, share } from '../counting/figures-text.ts';
import { numbersText } from '../../limits/numbers-text.ts';
import { sizeName } from '../counting/size-name.ts';
import type { LimitReport, ReplayReport } from '../counting/report.ts';
import { drawCurve } from './curve-chart.ts';
import { markup, NOTHING, type Markup } from '../../pages/markup.ts';
import { partOf, successPart } from './summary.ts';
import { drawTable } from '../../pages/table.ts';

/** Draws what each limit would have done, with its curve. */
export function drawLimits({ limits, leftOut }: ReplayReport): Markup {
  if (limits.length === 0 && leftOut.length === 0) return NOTHING;
  return markup`<h2>Limits</h2>
${limits.length === 0 ? NOTHING : drawLimitTable(limits)}${limits.map(drawLimit)}${leftOut.length === 0 ? NOTHING : drawLeftOut(leftOut)}`;
}

function drawLimitTable(limits: readonly LimitReport[]): Markup {
  return drawTable({
    id: 'limits',
    caption: 'Requests and distinct clients (ids) that each limit would have denied',
    columns: [
      { title: 'limit', kind: 'long' },
      { title: 'requests', kind: 'number' },
      { title: 'denied', kind: 'number' },
      { title: 'of all', kind: 'part' },
      { title: 'of these 2xx', kind: 'part' },
      { title: 'ids', kind: 'number' },
      { title: 'ids denied', kind: 'number' },
      { title: 'of all ids', kind: 'part' },
    ],
    rows: limits.map((each) => [
      each.name,
      count(each.requests),
      band(each.denied),
      partOf(each.denied, each.requests),
      successPart(each),
      about(each, count(each.ids)),
      about(each, band(each.deniedIds)),
      partOf(each.deniedIds, each.ids),
    ]),
  });
}

const NO_CURVE =
  'it borrows from a pool, all of its ids have overrides, or more requests were in progress than could be counted';

function drawLimit(limit: LimitReport): Markup {
  const { name, key, curve } = limit;
  return markup`<h3>${name}</h3>
<p>${numbersText(limit)}, by ${key}</p>
<ul>
${factsOf(limit).map((fact) => markup`<li>${fact}</li>\n`)}</ul>
${drawSuggestion(limit)}${curve === null ? markup`<p>It has no curve: ${NO_CURVE}.</p>\n` : drawCurve(limit, curve)}`;
}

function drawSuggestion(limit: LimitReport): Markup {
  const { suggestion, ids } = limit;
  if (suggestion === null) return NOTHING;
  const { burst, deniedIds, theirPart } = suggestion;
  return markup`<p><strong>Suggested: ${sizeName(limit)} ${count(burst)}.</strong> It denies ${about(limit, share(deniedIds, ids))} ids, which made ${percent(theirPart.high)} of the requests.</p>
`;
}

function factsOf(limit: LimitReport): string[] {
  const { requests, denied, deniedSuccesses, delayed, ids, deniedIds, sampling } = limit;
  const fact = (number: number, text: string): string[] => (number > 0 ? [text] : []);
  return [
    `denied ${share(denied, requests)} requests, of which ${band(deniedSuccesses)} had succeeded`,
    `denied ${about(limit, share(deniedIds, ids))} ids at least once`,
    ...fact(sampling - 1, `the numbers of ids are estimates: one id in ${count(sampling)} was counted`),
    ...fact(delayed.high, `delayed ${share(delayed, requests)} requests`),
    ...fact(limit.overridden, `${count(limit.overridden)} requests are of ids with overrides`),
    ...fact(limit.withoutId, `${count(limit.withoutId)} requests have no id, and the limit does not apply to them`),
    ...fact(
      limit.invalidIds,
      `${count(limit.invalidIds)} requests have an invalid id, for example ${limit.invalidExample ?? ''}`,
    ),
  ];
}

function about({ sampling }: LimitReport, text: string): string {
  return sampling > 1 ? `about ${text}` : text;
}

function drawLeftOut(leftOut: ReplayReport['leftOut']): Markup {
  return markup`<h3>Limits that were not replayed</h3>
<ul>
${leftOut.map(({ limit, reason }) => markup`<li>${limit}: ${reason}</li>\n`)}</ul>
`;
}
