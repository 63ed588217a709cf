// The room replay: yesterday's log against limits: formats, keys, order in time, counts, HTML page.
import type { LoadedLimits } from '@sluice/config';
import type { Result } from '@sluice/core';
import { limitsOf } from '@sluice/core/kit';
import type { Console } from '../console/console.ts';
import { buildReport, type DecidedParts } from './counting/build-report.ts';
import { LimitTally } from './counting/limit-tally.ts';
import { boundsOf, SecondBounds } from './counting/second-bounds.ts';
import type { ReplayReport } from './counting/report.ts';
import { Tally, type DecisionObserver } from './counting/tally.ts';
import { passesOf, type Arrivals } from './deciding/arrivals.ts';
import { chosenLimits, isConcurrency, forCanonicalIds } from './deciding/chosen-limits.ts';
import { ReplayPass } from './deciding/replay-pass.ts';
import type { ReadingCounts } from './entries/entry-reader.ts';
import { Routes } from './entries/routes.ts';
import { ClientTable } from './keys/client-table.ts';
import type { IdentifiedLimit } from './keys/identities.ts';
import { keyRules } from './keys/key-rules.ts';
import { notesOn, notesOnAddresses, partsMissing } from './counting/notes.ts';
import type { Second } from './order/second.ts';
import type { LogOptions } from './options.ts';
import { logFiles } from './reading/log-file.ts';
import { knownLogs, type KnownLog } from './reading/merged-logs.ts';
import { readRequests } from './reading/read-requests.ts';

/** The options of {@link replay}. */
export interface ReplayOptions extends LogOptions {
  readonly loaded: Pick<LoadedLimits, 'limits' | 'overrides'>;
  /** Words such as `Orders=json:user.id`. */
  readonly keys: readonly string[];
  /** The names of limits that are not replayed. */
  readonly leaveOut: readonly string[];
  readonly routes: readonly string[];
  readonly showIds: boolean;
  /** Is told each decision. */
  readonly observe?: DecisionObserver;
}

/** The most clients in the tables of all limits together. */
const MAX_CLIENTS = 520_000;
const SECOND_MICROS = 1_000_000;

/**
 * Decides the requests of logs by limits, as a server would have done, and returns what the limits would have done. Ends early
 * after Ctrl-C, with a report that is marked as a part.
 *
 * @throws {UsageError} For a log that can't be read or has no known format, and for wrong options.
 * @throws {SluiceError} For limits or trusted proxies that are not valid.
 */
export async function replay(options: ReplayOptions, console: Console): Promise<ReplayReport> {
  const { loaded, costs, routes: templates, only } = options;
  const keyed = new Set(options.keys.map((word) => word.split('=')[0]!));
  const files = await logFiles(options.files, console.terminal);
  const logs = await knownLogs(files, options, console);
  const formats = logs.map(({ detected }) => detected);
  const rules = keyRules(options.keys, loaded.limits, Object.keys(loaded.limits));
  const choice = { leaveOut: options.leaveOut, keyed, identified: new Set(rules.keys()), logs: formats };
  const { names, leftOut } = chosenLimits(loaded.limits, choice);
  const arrivals = passesOf(formats);
  const identified = names.map((name): IdentifiedLimit => {
    const clients = new ClientTable(Math.floor(MAX_CLIENTS / names.length), arrivals.length, {
      hasBounds: arrivals.length > 1,
    });
    return { name, rule: rules.get(name)!, clients, withoutId: 0, invalidIds: 0, invalidExample: undefined };
  });
  const routes = new Routes({
    routes: templates,
    costs,
    only,
    limits: names,
    others: leftOut.map(({ limit }) => limit),
  });
  const deciding = new Deciding(options, arrivals, identified);
  const concurrency = names.filter((name) => isConcurrency(loaded.limits[name]!));
  const reading = { logs, limits: identified, addresses: options, routes, needsEnds: concurrency.length > 0 };
  const { counts, window, files: outcomes } = await readRequests(reading, console, (second) => deciding.add(second));
  const { decided, evicted, endedEarly, rejected } = await deciding.end();
  const ofProcess = concurrency.filter((name) => (loaded.limits[name] as { scope?: string }).scope === 'process');
  const slots = concurrency.length === 0 ? undefined : { endedEarly, ofProcess };
  const hasBounds = decided?.bounds !== undefined;
  const late = counts.late + window.late;
  const seen = { counts, late, window, logs, identified, evicted, slots, rejected, hasBounds };
  return buildReport({
    arrivals,
    counts,
    files: outcomes,
    late,
    time: timeOf(logs, arrivals, counts),
    partial: partsMissing({ files: outcomes, counts, late, identified, wasInterrupted: console.interrupted.aborted }),
    leftOut,
    notes: [...notesOnAddresses(logs, options), ...notesOn(seen)],
    routeNames: routes.names,
    showIds: options.showIds,
    denyAtMost: options.denyAtMost,
    decided,
  });
}

interface Begun {
  readonly passes: readonly ReplayPass[];
  readonly limits: readonly LimitTally[];
  readonly tally: Tally;
}

interface Ended {
  readonly decided: DecidedParts | undefined;
  readonly evicted: number;
  readonly endedEarly: number;
  /** The first result of a cost above the burst. */
  readonly rejected: Result | undefined;
}

/** The passes, begun with the first request. */
class Deciding {
  readonly #options: ReplayOptions;
  readonly #arrivals: readonly Arrivals[];
  readonly #identified: readonly IdentifiedLimit[];
  #begun: Begun | undefined;

  constructor(options: ReplayOptions, arrivals: readonly Arrivals[], identified: readonly IdentifiedLimit[]) {
    this.#options = options;
    this.#arrivals = arrivals;
    this.#identified = identified;
  }

  add(second: Second): void {
    this.#begun ??= this.#begin(second.startMicros);
    this.#begun.tally.add(second);
  }

  async end(): Promise<Ended> {
    if (this.#begun === undefined) return { decided: undefined, evicted: 0, endedEarly: 0, rejected: undefined };
    const { passes, limits: tallies, tally } = this.#begun;
    const evicted = Math.max(...passes.map((pass) => pass.evicted));
    const endedEarly = Math.max(...passes.map((pass) => pass.endedEarly));
    const undecidable = Math.max(...passes.map((pass) => pass.undecidable.count));
    const known = limitsOf(passes[0]!.limiter);
    const limits = tallies.map((each, i) => ({
      limit: known.get(each.name)!,
      tally: each,
      identified: this.#identified[i]!,
    }));
    await Promise.all(passes.map((pass) => pass.close()));
    const rejected = passes.find((pass) => pass.undecidable.count > 0)?.undecidable.example;
    const bounds = boundsOf(
      tallies.map((each) => each.bounds),
      tally.requests,
    );
    return { decided: { tally, undecidable, limits, bounds }, evicted, endedEarly, rejected };
  }

  #begin(startMicros: number): Begun {
    const names = this.#identified.map(({ name }) => name);
    const replayed = forCanonicalIds(this.#options.loaded, names);
    const passes = this.#arrivals.map(() => new ReplayPass(replayed, names, startMicros));
    const known = limitsOf(passes[0]!.limiter);
    const limits = this.#identified.map(({ name, clients }) => {
      const limit = known.get(name)!;
      const hasBounds = passes.length > 1 && SecondBounds.has(limit);
      const bounds = hasBounds
        ? new SecondBounds(limit, this.#options.loaded.overrides, clients, startMicros)
        : undefined;
      return new LimitTally(limit, clients, passes.length, startMicros, bounds);
    });
    const tallied = passes.map((pass, i) => ({ arrivals: this.#arrivals[i]!, pass }));
    return { passes, limits, tally: new Tally(tallied, limits, startMicros / SECOND_MICROS, this.#options.observe) };
  }
}

function timeOf(
  logs: readonly KnownLog[],
  arrivals: readonly Arrivals[],
  { requests, withArrival }: ReadingCounts,
): ReplayReport['input']['time'] {
  const fields = new Set(logs.map(({ detected }) => detected.timeField));
  return {
    field: [...fields].join(', '),
    resolution: arrivals.length > 1 ? 'second' : 'fraction',
    moment: withArrival > requests / 2 ? 'arrival' : 'end of the request',
  };
}
