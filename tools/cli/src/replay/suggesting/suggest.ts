import { everyone, ipAddress, by, OverrideList, clientNetwork, type LimitDefinition } from '@sluice/core';
import type { Console } from '../../console/console.ts';
import { UsageError } from '../../console/failure.ts';
import type { ReplayReport } from '../counting/report.ts';
import { NONE } from '../counting/band.ts';
import { hasWholeSeconds } from '../deciding/arrivals.ts';
import { counted, percent } from '../counting/figures-text.ts';
import { Routes } from '../entries/routes.ts';
import { ClientTable } from '../keys/client-table.ts';
import { keyRules } from '../keys/key-rules.ts';
import type { LogOptions } from '../options.ts';
import { logFiles } from '../reading/log-file.ts';
import { knownLogs, type KnownLog } from '../reading/merged-logs.ts';
import { readRequests } from '../reading/read-requests.ts';
import { replay } from '../replay.ts';
import { RateNeeds } from './rate-needs.ts';
import {
  coarseRates,
  largestBurst,
  perSecond,
  roundBurst,
  roundRates,
  type RateAndBurst,
  type SuggestedRate,
} from './rates.ts';
import type { Suggestion, SuggestReport } from './suggest-report.ts';

/** The options of {@link suggest}. */
export interface SuggestOptions extends LogOptions {
  /** Where ids come from, as in `--key` of a replay. */
  readonly key: string;
}

const NAME = 'Requests';
/** The table of clients has about 400 bytes for each, and 600 in a log of whole seconds. */
const MAX_CLIENTS = 250_000;
const MICROS_PER_SECOND = 1_000_000;

/**
 * Suggests numbers for a limit. At each rate there is a smallest burst that denies at most a part of the clients. Of these
 * numbers it suggests those that allow a client the fewest requests in a minute, in ten seconds, and in an hour, and with which
 * an empty bucket fills within the time of the log. Each suggestion is replayed, so that its price is exact.
 *
 * @throws {UsageError} For stdin, for a log that can't be read or has no known format, and for wrong options.
 */
export async function suggest(options: SuggestOptions, console: Console): Promise<SuggestReport> {
  const { denyAtMost, key } = options;
  const files = await logFiles(options.files, console.terminal);
  const pipe = files.find(({ size }) => size === undefined);
  if (pipe !== undefined)
    throw new UsageError(
      `A suggestion reads its logs several times, and ${pipe.name} can be read once. Write it to a file first.`,
    );
  const logs = await knownLogs(files, options, console);
  const coarse = await burstsAt(coarseRates(), logs, options, console);
  const middle = perSecond(tightest(shownBy(coarse), 60));
  const near = await burstsAt(roundRates(middle / 3, middle * 3), logs, options, console);
  const rates = [...coarse.rates, ...near.rates].toSorted((a, b) => perSecond(a) - perSecond(b));
  const suggestions: Suggestion[] = [];
  let report: ReplayReport | undefined;
  for (const each of candidates(shownBy({ ...coarse, rates }))) {
    // oxlint-disable-next-line no-await-in-loop -- one reading after the other
    report = await priced(each, options, console);
    if (each.isPossible) suggestions.push(suggestionOf(each, report, key));
  }
  const ids = report!.limits[0]?.ids ?? 0;
  return {
    version: 1,
    partial: report!.partial,
    input: report!.input,
    key,
    ids,
    denyAtMost,
    rates,
    suggestions: (report!.limits[0]?.requests ?? 0) === 0 ? [] : suggestions,
    notes: [...notesOnFewIds(ids, denyAtMost), ...report!.notes],
  };
}

function notesOnFewIds(ids: number, denyAtMost: number): string[] {
  if (ids <= 1 || denyAtMost === 0 || denyAtMost * ids >= 1) return [];
  const enough = Math.ceil(100 / ids);
  return [
    `${percent(denyAtMost)} of ${counted(ids, 'id')} is less than one id, so the numbers suit the id with the most requests, too. To allow one denied id: --deny-at-most ${enough}%.`,
  ];
}

interface TriedRates {
  readonly rates: readonly RateAndBurst[];
  /** The time from the first request of the log to the last. */
  readonly seconds: number;
}

async function burstsAt(
  rates: readonly SuggestedRate[],
  logs: readonly KnownLog[],
  options: SuggestOptions,
  console: Console,
): Promise<TriedRates> {
  const isWhole = hasWholeSeconds(logs.map(({ detected }) => detected));
  const clients = new ClientTable(isWhole ? MAX_CLIENTS / 2 : MAX_CLIENTS, 0);
  const needs = new RateNeeds(clients, rates, isWhole ? MICROS_PER_SECOND : 0);
  const rule = keyRules([`${NAME}=${options.key}`], limitsWith({ count: 1, period: '1s', burst: 1 }, options.key), [
    NAME,
  ]).get(NAME)!;
  const limit = { name: NAME, rule, clients, withoutId: 0, invalidIds: 0, invalidExample: undefined };
  let startMicros: number | undefined;
  let endMicros = 0;
  const reading = { logs, limits: [limit], addresses: options, routes: routesOf(options), needsEnds: false };
  await readRequests(reading, console, (second) => {
    startMicros ??= second.startMicros;
    endMicros = second.startMicros + MICROS_PER_SECOND;
    for (let i = 0; i < second.size; i++) {
      const { identity, target, micros } = second.request(i);
      const id = identity[0]!;
      if (id === null || !target.applies[0]!) continue;
      needs.add(id, micros - startMicros, target.cost);
    }
  });
  const bursts = needs.bursts(options.denyAtMost);
  return {
    rates: rates.map((rate, i) => ({ ...rate, burst: bursts[i]! })),
    seconds: startMicros === undefined ? 0 : (endMicros - startMicros) / MICROS_PER_SECOND,
  };
}

/**
 * Returns the numbers with which an empty bucket fills within the time of the log; all of them if there are none. With others, a
 * client may be denied for longer than the log shows. Numbers that a limit can't have are the last choice.
 */
function shownBy({ rates, seconds }: TriedRates): readonly RateAndBurst[] {
  const possible = rates.filter((rate) => rate.burst <= largestBurst(rate));
  const shown = possible.filter((rate) => rate.burst / perSecond(rate) <= seconds);
  return [shown, possible, rates].find((each) => each.length > 0)!;
}

function routesOf({ costs, only }: SuggestOptions): Routes {
  return new Routes({ routes: [], costs, only: only.map((pattern) => `${NAME}=${pattern}`), limits: [NAME] });
}

/** The windows for which numbers are suggested, in seconds. */
const WINDOWS = [
  { name: 'a minute', seconds: 60 },
  { name: 'ten seconds', seconds: 10 },
  { name: 'an hour', seconds: 3600 },
];

/** Returns the numbers that allow a client the fewest requests in a window. */
function tightest(rates: readonly RateAndBurst[], seconds: number): RateAndBurst {
  return rates.reduce((best, rate) => (mostIn(rate, seconds) < mostIn(best, seconds) ? rate : best));
}

/** Returns the most requests that numbers allow in a window. */
function mostIn(rate: RateAndBurst, seconds: number): number {
  return rate.burst + perSecond(rate) * seconds;
}

interface Candidate extends RateAndBurst, Pick<Suggestion, 'tightestIn' | 'most'> {
  /** Whether a limit can have the burst. Otherwise it is the largest one that a limit can have. */
  readonly isPossible: boolean;
}

/** Returns the tightest numbers for each window, each once. */
function candidates(rates: readonly RateAndBurst[]): Candidate[] {
  const found = WINDOWS.map(({ name, seconds }): Candidate => {
    const rate = tightest(rates, seconds);
    const numbers = { ...rate, burst: Math.min(roundBurst(rate.burst), largestBurst(rate)) };
    const isPossible = rate.burst <= largestBurst(rate);
    return { ...numbers, isPossible, tightestIn: name, most: Math.floor(mostIn(numbers, seconds)) };
  });
  const texts = found.map(({ count, period }) => `${count} ${period}`);
  return found.filter((_, i) => texts.indexOf(texts[i]!) === i);
}

function priced(numbers: RateAndBurst, options: SuggestOptions, console: Console): Promise<ReplayReport> {
  const { key, only } = options;
  return replay(
    {
      ...options,
      loaded: { limits: limitsWith(numbers, key), overrides: new OverrideList() },
      keys: [`${NAME}=${key}`],
      only: only.map((pattern) => `${NAME}=${pattern}`),
      leaveOut: [],
      routes: [],
      showIds: false,
    },
    console,
  );
}

const KEYS = new Map([
  ['ip', ipAddress()],
  ['network', clientNetwork()],
  ['everyone', everyone()],
]);

function limitsWith({ count, period, burst }: RateAndBurst, key: string): Record<string, LimitDefinition> {
  const text = by(undefined, { format: { name: 'missing', canonical: (id) => id } });
  return { [NAME]: { key: KEYS.get(key) ?? text, count, period, burst } };
}

function suggestionOf(numbers: Candidate, { limits: [limit] }: ReplayReport, key: string): Suggestion {
  const { count, period, burst, tightestIn, most } = numbers;
  const format = KEYS.get(key)?.format.name ?? 'accountId';
  return {
    count,
    period,
    burst,
    tightestIn,
    most,
    yaml: `${NAME}: { count: ${count}, period: ${period}, burst: ${burst}, idFormat: ${format} }`,
    requests: limit?.requests ?? 0,
    denied: limit?.denied ?? NONE,
    deniedSuccesses: limit?.deniedSuccesses ?? NONE,
    deniedIds: limit?.deniedIds ?? NONE,
  };
}
