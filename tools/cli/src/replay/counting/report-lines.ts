import { countText } from '../../console/number-text.ts';
import type { Console } from '../../console/console.ts';
import { about, band, counted, deniedRoutes, routeIds, share, timeText } from './figures-text.ts';
import { shownId } from '../../limits/shown-id.ts';
import { numbersText } from '../../limits/limit-kind.ts';
import { isShorterThanPeriod, sizeName, smallestSize } from './smallest-size.ts';
import type { InputReport, LimitReport, ReplayReport } from './report.ts';

const SHOWN_ROUTES = 10;

/** Returns a report as lines for people. */
export function reportLines(report: ReplayReport, console: Console): string[] {
  const { input, totals, limits, partial } = report;
  const damage = partial.flatMap((why) => partLines(why, console));
  if (input.fromMs === null)
    return [...damage, 'The log has no requests that could be replayed.', ...skippedLines(report)];
  return [
    ...damage,
    `${counted(input.requests, 'request')}, ${timeText(input.fromMs)} to ${timeText(input.toMs!)} (UTC)`,
    `  times     ${input.time.field}, ${input.time.moment}${input.time.resolution === 'second' ? ', in whole seconds' : ''}`,
    ...skippedLines(report),
    `  denied    ${share(totals.denied, totals.requests)}, of which ${band(totals.deniedSuccesses)} had succeeded`,
    ...(totals.delayed.high > 0 ? [`  delayed   ${share(totals.delayed, totals.requests)}`] : []),
    `  peak      ${countText(totals.peakPerSecond)} requests of all clients in one second, with the limits ${band(totals.allowedPeakPerSecond)}`,
    ...(totals.undecidable > 0 ? [`  ${countText(totals.undecidable)} requests have a cost above the burst`] : []),
    ...limits.flatMap((limit) => ['', ...limitLines(limit, input, console)]),
    ...report.leftOut.flatMap(({ limit, reason }) => ['', ...console.row(`${limit} is left out: ${reason}`)]),
    ...routeLines(report),
    ...deniedLines(report),
    '',
    ...report.notes.flatMap((note) => console.row(`- ${note}`)),
  ];
}

/** Returns why a report is about a part of a log, at its top. */
export function partLines(why: string, console: Console): string[] {
  return console.row(`PART OF THE LOG: ${why}`).map((line) => console.styled('yellow', line));
}

function skippedLines({ input }: ReplayReport): string[] {
  const { skipped, examples, late } = input;
  const reasons = Object.entries(skipped).filter(([, lines]) => lines > 0);
  return [
    ...reasons.map(([reason, lines]) => `  skipped   ${counted(lines, 'line')}: ${reason}`),
    ...examples.map(({ file, line, reason, text }) => `            ${file}:${line}: ${reason}: ${text}`),
    ...(late > 0 ? [`  late      ${counted(late, 'request')} left out`] : []),
  ];
}

function limitLines(limit: LimitReport, input: InputReport, console: Console): string[] {
  const { name, key, requests, denied, deniedIds, ids, curve } = limit;
  const knee = isShorterThanPeriod(limit, input) ? undefined : curve?.knee;
  const smallest = smallestSize(limit, input, 'ids');
  return [
    `${console.styled('bold', name)}  ${numbersText(limit)}, by ${key}`,
    `  applies   to ${counted(requests, 'request')} of ${about(limit)}${counted(ids, 'id')}`,
    `  denied    ${share(denied, requests)}, of which ${band(limit.deniedSuccesses)} had succeeded`,
    `  ids       ${about(limit)}${share(deniedIds, ids)} denied at least once`,
    ...(limit.delayed.high > 0 ? [`  delayed   ${share(limit.delayed, requests)}`] : []),
    ...(typeof knee === 'number'
      ? console.row(
          `  knee      ${sizeName(limit)} ${countText(knee)}, the bend of the curve: a larger one helps few more ids`,
        )
      : []),
    ...(smallest === undefined ? [] : console.row(`  smallest  ${smallest}`)),
  ];
}

function routeLines({ routes, limits }: ReplayReport): string[] {
  const denied = deniedRoutes(routes);
  if (denied.length === 0) return [];
  const more = denied.length > SHOWN_ROUTES ? [`  and ${denied.length - SHOWN_ROUTES} more`] : [];
  const shown = denied.slice(0, SHOWN_ROUTES).map((each) => {
    return `  ${shownId(each.route)}: ${share(each.denied, each.requests)}, ${routeIds(each, limits, 'id')}`;
  });
  return ['', 'Denied by route', ...shown, ...more];
}

function deniedLines({ mostDenied }: ReplayReport): string[] {
  if (mostDenied.length === 0) return [];
  const lines = mostDenied.map((each) => `  ${each.limit} ${shownId(each.id)}: ${share(each.denied, each.requests)}`);
  return ['', 'Most denied ids', ...lines];
}
