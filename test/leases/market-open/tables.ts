import type { LoadFigures } from './on-redis.ts';
import { SETUPS, type MeasuredResult, type SimulatedResult } from './result.ts';
import { INTERVAL_MS, type Interval } from './tally.ts';

/** The first row has the titles. */
export type Table = readonly (readonly string[])[];

/** What Redis and the backend get before, while, just after, and long after the market opens; or in each 100 ms. */
export function simulatedTable({ scenario, setups }: SimulatedResult, allRows = false): Table {
  const { atMs, forMs } = scenario.rise;
  const moments = [atMs - INTERVAL_MS, atMs + INTERVAL_MS, atMs + forMs, scenario.durationMs - INTERVAL_MS];
  const rows = SETUPS.flatMap(({ setup, name }) => {
    const shown = setups[setup].intervals.filter(({ fromMs }) => allRows || moments.includes(fromMs));
    return shown.map((interval, i) => [i === 0 ? name : '', ...cellsOfInterval(interval)]);
  });
  return [['', 'from', 'offered/s', 'to the backend/s', '503/s', 'Redis load', 'Redis p99', 'backend behind'], ...rows];
}

/** What the backend gets and how long Redis takes, long after the market opens. */
export function outcomeTable({ setups }: SimulatedResult): Table {
  const rows = SETUPS.map(({ setup, name }) => {
    const [, offered = '', admitted = '', unavailable = '', , p99 = '', behind = ''] = cellsOfInterval(
      setups[setup].intervals.at(-1)!,
    );
    return [name, offered, admitted, unavailable, p99, behind];
  });
  return [['limits', 'offered/s', 'to the backend/s', '503/s', 'Redis p99', 'backend behind'], ...rows];
}

/** How many decisions the processes of this machine made, strictly and with leases. */
export function mostDecisionsTable({ most }: MeasuredResult): Table {
  const rows = most.flatMap(({ clients, closed, leased }) => [
    [clientsText(clients), 'strict', ...cellsOf(closed), ''],
    ['', 'leased', ...cellsOf(leased), `${(leased.decisionsPerSecond / closed.decisionsPerSecond).toFixed(1)}×`],
  ]);
  return [['limits', '', 'decisions/s', 'p50', 'p99', 'Redis, of a core', 'CPU µs: process', 'Redis', ''], ...rows];
}

/** What the processes of this machine did after the market had opened. */
export function openTable({ open, boundTokens }: MeasuredResult): Table {
  const rows = SETUPS.map(({ setup, name }) => {
    const figures = open[setup];
    return [
      name,
      whole(figures.offeredPerSecond),
      whole(figures.passedPerSecond),
      whole(figures.uncheckedPerSecond),
      whole(figures.unavailablePerSecond),
      `${whole(figures.overTokens)} of ${setup === 'leased' ? whole(boundTokens) : '0'}`,
      percent(figures.redisCores),
      ms(figures.p99Ms),
    ];
  });
  return [
    ['', 'offered/s', 'to the backend/s', 'of them unchecked/s', '503/s', 'over the limit', 'Redis, of a core', 'p99'],
    ...rows,
  ];
}

/** A table as Markdown. */
export function markdown([titles = [], ...rows]: Table): string {
  return [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function cellsOfInterval(interval: Interval): readonly string[] {
  const perSecond = (requests: number): string => whole((1000 * requests) / INTERVAL_MS);
  return [
    `${interval.fromMs} ms`,
    perSecond(interval.offered),
    perSecond(interval.admitted),
    perSecond(interval.unavailable),
    percent(interval.redisLoad),
    ms(interval.redisP99Ms),
    `${whole(interval.backlogMs)} ms`,
  ];
}

function cellsOf(figures: LoadFigures): readonly string[] {
  return [
    whole(figures.decisionsPerSecond),
    ms(figures.p50Ms),
    ms(figures.p99Ms),
    percent(figures.redisCores),
    figures.gatewayMicrosPerDecision.toFixed(1),
    figures.redisMicrosPerDecision.toFixed(2),
  ];
}

function clientsText(clients: number): string {
  return clients === 0 ? 'one for everyone' : `and one for each of ${whole(clients)} clients`;
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-GB');
}

function percent(share: number): string {
  return `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
}

function ms(value: number): string {
  return `${value.toFixed(value < 0.1 ? 3 : value < 10 ? 2 : 0)} ms`;
}
