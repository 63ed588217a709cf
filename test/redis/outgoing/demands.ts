import { denialMsOf, PEERS } from '../../contract/outgoing/peer-servers.ts';
import { isDenied, mostDenials, refilledShares, sharesOf, windowsOf, type Share } from './figures.ts';
import type { Answer } from './provider.ts';
import { LIMIT, WAY_MS, type Scenario } from './scenarios.ts';

/** For so long before its turn a call may take its tokens, by default. */
const AHEAD_MS = 50;

/** What was seen of a scenario. */
export interface Seen {
  readonly answers: readonly Answer[];
  readonly scripts: number;
  /** How many decisions the store has not made in time. */
  readonly unavailable: number;
  /** Which calls took longer than they should, by process. */
  readonly late: readonly ReadonlySet<number>[];
  /** When the first call began, in milliseconds since 1970. */
  readonly beganMs: number;
  /** How many tokens our bucket lacked while calls waited, and when that was, in milliseconds since 1970. */
  readonly level: { readonly tokens: number; readonly atMs: number };
  readonly isKilled: boolean;
}

/** A row of the table, and the demands that it misses. */
export interface Row {
  readonly name: string;
  readonly figures: Readonly<Record<string, number>>;
  readonly misses: readonly string[];
}

/** Judges a scenario. */
export function rowOf(scenario: Scenario, seen: Seen): Row {
  const { answers, scripts, unavailable } = seen;
  const denied = answers.filter(isDenied).length;
  const late = answers.filter((each) => isDenied(each) && isLate(seen, each)).length;
  const shares = wholeWindows(scenario, answers);
  const figures = {
    calls: answers.length,
    '429': denied,
    late,
    'at once': denialsAtOnce(scenario, seen),
    'used, %': percent(meanOf(shares)),
    'least, %': percent(Math.min(...shares.map(({ share }) => share))),
    'scripts a call': rounded(scripts / answers.length),
    lost: scenario.isBelow ? rounded(lostTokens(scenario, seen)) : 0,
    unavailable,
  };
  const name = `${scenario.isBelow ? 'ours' : 'only theirs'}: ${scenario.peer}`;
  const misses = (scenario.isBelow ? missesBelow : missesAbove)(figures, mostLost(scenario, seen));
  return { name, figures, misses: misses.map((miss) => `${name}: ${miss}`) };
}

function missesBelow(figures: Row['figures'], most: number): readonly string[] {
  return [
    ...(figures['429'] === 0 ? [] : ['there must be no answer of 429']),
    ...(figures['used, %']! >= 95 ? [] : ['95 % must be used']),
    ...(figures['lost']! <= most ? [] : [`at most ${most} tokens may be lost`]),
  ];
}

function missesAbove(figures: Row['figures']): readonly string[] {
  return [
    ...(figures['at once']! <= 1 ? [] : ['at most one 429 may be for a process and window']),
    ...(figures['least, %']! >= 85 ? [] : ['85 % of each window must be used']),
  ];
}

/** Whether a call took longer than it should: meanwhile its process could not know what it could have known. */
function isLate({ late }: Seen, { process, call }: Answer): boolean {
  return late[process]?.has(call) === true;
}

/**
 * Returns the most denials of one process in one window, without those of calls that were late. A bucket has no windows: then it
 * is what a process has had within the time for which the first of them was to last.
 */
function denialsAtOnce({ peer }: Scenario, seen: Seen): number {
  const answers = seen.answers.filter((each) => !(isDenied(each) && isLate(seen, each)));
  const denialMs = denialMsOf(PEERS[peer]!, LIMIT);
  if (PEERS[peer]!.hasWindows) return mostDenials(windowsOf(answers, denialMs));
  const denied = answers.filter(isDenied);
  const processes = [...new Set(denied.map(({ process }) => process))];
  const windows = processes.flatMap((of) =>
    windowsOf(
      denied.filter(({ process }) => process === of),
      denialMs,
    ),
  );
  return mostDenials(windows);
}

/** The shares of the limit that matters, by window. The first one of ours has its burst besides. */
function wholeWindows({ peer, isBelow, limit }: Scenario, answers: readonly Answer[]): readonly Share[] {
  const { count, windowMs } = LIMIT;
  const windows = windowsOf(answers, windowMs);
  if (isBelow) return sharesOf(windows, limit.count, windowMs).slice(1);
  return PEERS[peer]!.hasWindows ? sharesOf(windows, count, windowMs) : refilledShares(windows, count, windowMs);
}

/**
 * How many tokens were taken and not used when the level was read: with calls that wait always, the bucket was never full
 * before.
 */
function lostTokens({ limit }: Scenario, { answers, level, beganMs }: Seen): number {
  const used = answers.filter(({ atMs }) => atMs <= level.atMs).length;
  return level.tokens + ((level.atMs - beganMs) * limit.count) / LIMIT.windowMs - used;
}

/** What calls take ahead, and what those on their way have taken: by all processes, and by one that is killed. */
function mostLost({ limit }: Scenario, { isKilled }: Seen): number {
  const most = Math.ceil(((AHEAD_MS + WAY_MS) * limit.count) / LIMIT.windowMs);
  return isKilled ? 2 * most : most;
}

function meanOf(shares: readonly Share[]): number {
  const lastsMs = shares.reduce((sum, each) => sum + each.lastsMs, 0);
  return shares.reduce((sum, each) => sum + each.share * each.lastsMs, 0) / lastsMs;
}

function percent(share: number): number {
  return Math.round(1000 * share) / 10;
}

function rounded(figure: number): number {
  return Math.round(100 * figure) / 100;
}
