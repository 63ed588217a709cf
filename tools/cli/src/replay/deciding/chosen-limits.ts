import type { LoadedLimits } from '@sluice/config';
import { by, type LimitDefinition } from '@sluice/core';
import { kindOf, listed } from '@sluice/core/kit';
import { UsageError } from '../../console/failure.ts';
import type { DetectedFormat } from '../formats/detect.ts';
import { noRule } from '../keys/key-rules.ts';
import { hasWholeSeconds } from './arrivals.ts';
import type { ReplayedLimits } from './replay-pass.ts';

/** The limits of a file that a replay decides, and those that it can't. */
export interface ChosenLimits {
  /** The names of those that it decides, in the order of the file. */
  readonly names: readonly string[];
  readonly leftOut: readonly { readonly limit: string; readonly reason: string }[];
}

/** By what limits are chosen. */
export interface LimitChoice {
  /** The limits that the user leaves out. */
  readonly leaveOut: readonly string[];
  /** The limits with a key of the user. A pool is asked for itself only then. */
  readonly keyed: ReadonlySet<string>;
  /** The limits whose ids can be found. */
  readonly identified: ReadonlySet<string>;
  /** What is known of the logs. */
  readonly logs: readonly Pick<DetectedFormat, 'resolution' | 'hasDurations'>[];
}

/**
 * Chooses the limits that a log has the data for.
 *
 * @throws {UsageError} For a limit to leave out that is not one of the file, and if all are left out.
 */
export function chosenLimits(limits: LoadedLimits['limits'], choice: LimitChoice): ChosenLimits {
  const all = Object.keys(limits);
  const unknown = choice.leaveOut.find((name) => !all.includes(name));
  if (unknown !== undefined)
    throw new UsageError(`\`--leave-out\` must be the name of a limit, but was '${unknown}'. Limits: ${listed(all)}.`);
  const pools = new Set(Object.values(limits).map((limit) => poolOf(limit)));
  const leftOut = Object.entries(limits).flatMap(([limit, definition]) => {
    const reason = reasonAgainst(limit, definition, pools.has(limit), choice);
    return reason === undefined ? [] : [{ limit, reason }];
  });
  const out = new Set(leftOut.map(({ limit }) => limit));
  const names = all.filter((name) => !out.has(name));
  if (names.length > 0) return { names, leftOut };
  const why = leftOut.map(({ limit, reason }) => `${limit}: ${reason}`).join('; ');
  throw new UsageError(`The file has no limit that this log can be replayed against. ${why}.`);
}

const LEFT_OUT = 'because of --leave-out';
const POOL = 'it is a pool, of which requests take tokens through the limits that borrow from it';

function reasonAgainst(
  name: string,
  definition: LimitDefinition,
  isPool: boolean,
  { leaveOut, keyed, identified, logs }: LimitChoice,
): string | undefined {
  if (leaveOut.includes(name)) return LEFT_OUT;
  if ('disabled' in definition && definition.disabled === true) return 'it is disabled';
  const kind = kindOf(name, definition).name;
  if (kind === 'load') return 'a log does not show the load of the server';
  if (kind === 'concurrency' && hasWholeSeconds(logs)) return WHOLE_SECONDS;
  if (kind === 'concurrency' && !logs.every(({ hasDurations }) => hasDurations)) return NO_DURATIONS;
  if (isPool && !keyed.has(name)) return POOL;
  return identified.has(name) ? undefined : noRule(name);
}

const UNKNOWN = 'so it does not show which requests were in progress at the same time';
const WHOLE_SECONDS = `the times of the log are whole seconds, ${UNKNOWN}`;
const NO_DURATIONS = `the log has no durations of requests, such as $request_time of nginx, ${UNKNOWN}`;

/** The longest expiry that a limit may have. A server renews the slots of requests in progress, so it does not change a decision. */
const EXPIRY = '1h';

/** Returns the limits for a limiter that gets canonical ids, so that it need not make them canonical again. */
export function forCanonicalIds(
  { limits, overrides }: Pick<LoadedLimits, 'limits' | 'overrides'>,
  names: readonly string[],
): ReplayedLimits {
  const definitions = Object.entries(limits).filter(([name, limit]) => kindOf(name, limit).name !== 'load');
  const changed = definitions.map(([name, definition]) => {
    if (!names.includes(name)) return [name, definition];
    const format = { ...definition.key!.format, canonical: (text: string) => text };
    return [name, { ...replayedDefinition(definition), key: by(undefined, { format }) }];
  });
  const concurrency = names.filter((name) => isConcurrency(limits[name]!));
  return {
    limits: Object.fromEntries(changed) as ReplayedLimits['limits'],
    overrides,
    concurrency: new Set(concurrency),
  };
}

function replayedDefinition(definition: LimitDefinition): LimitDefinition {
  return isConcurrency(definition) ? ({ ...definition, expiry: EXPIRY } as object as LimitDefinition) : definition;
}

/** Returns the name of the pool from which a limit of a file borrows. */
function poolOf(definition: LimitDefinition): string | undefined {
  return (definition as { borrow?: { from: string } }).borrow?.from;
}

/** Whether a limit counts the requests that are in progress. */
export function isConcurrency(definition: LimitDefinition): boolean {
  return kindOf('', definition).name === 'concurrency';
}
