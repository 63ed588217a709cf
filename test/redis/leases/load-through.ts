import { realDelay } from '../../real-delay.ts';
import { sized } from '../../sized.ts';
import type { SpendLimit, SpendOrders, SpendReport } from '../processes/spend.mjs';
import { GatewayProcess } from './gateway-process.ts';
import { nowMs } from '../slots/holder-process.ts';
import { mostBeyond, type Passed } from './most-beyond.ts';
import type { LeaseOutcome } from './outcome.ts';

export const PROCESSES = sized(4, 8);
const SKEW = 5;
const MOVE_MS = 300;
/** A second of the rate, of which so much must pass again. */
const RATE_WINDOW_MS = 1000;
const RATE_SHARE = 0.75;

/** A load on a leased limit by several processes, in the middle of which something happens. */
export interface LoadThrough {
  readonly server: SpendOrders['server'];
  readonly limit: SpendLimit;
  readonly ids?: readonly string[];
  readonly tags?: number;
  /** How many of the processes let Redis decide each request. */
  readonly strict?: number;
  /** Whether some processes may get nothing: those that read the bucket rarely, while others ask at each request. */
  readonly someMayStarve?: boolean;
  /** The requests of each id, by all processes. More than the limit lets through. */
  readonly perSecond: number;
  readonly beforeMs: number;
  readonly afterMs: number;
  readonly recoveredWithinMs: number;
  /** What happens. It ends when all is well again. Returns what it adds to the bound. */
  fault(load: RunningLoad): Promise<Added>;
}

/** The processes under load. */
export interface RunningLoad {
  /** A process that is started later is added here. */
  readonly gateways: GatewayProcess[];
  readonly overdraft: number;
  readonly ratePerMs: number;
  /** How old the oldest view of all processes is, in milliseconds. */
  oldestViewMs(): Promise<number>;
  /** Starts another process in the place of one, with the same load. */
  replace(index: number): Promise<void>;
}

/** What a fault adds to the bound, in tokens, and what it has noted. */
export interface Added {
  readonly tokens: number;
  readonly note?: string;
}

/** Runs a load, a fault in the middle of it, and compares what passed with the bound. */
export async function loadThrough(setup: LoadThrough): Promise<LeaseOutcome> {
  const load = new Load(setup);
  await load.start();
  const beganMs = nowMs();
  await realDelay(setup.beforeMs);
  const added = await setup.fault(load);
  const endedMs = nowMs();
  await realDelay(setup.afterMs);
  const reports = await load.end();
  return outcomeOf(setup, { load, added, reports, beganMs, endedMs, overMs: nowMs() });
}

class Load implements RunningLoad {
  readonly gateways: GatewayProcess[] = [];
  readonly ratePerMs: number;
  readonly #setup: LoadThrough;

  constructor(setup: LoadThrough) {
    this.#setup = setup;
    this.ratePerMs = ratePerMs(setup.limit);
  }

  get overdraft(): number {
    return this.numbers.overdraft;
  }

  get numbers(): GatewayProcess['numbers'] {
    return this.gateways.at(-1)!.numbers;
  }

  async start(): Promise<void> {
    const all = Array.from({ length: PROCESSES }, (_, index) => GatewayProcess.start(this.#orders(index)));
    this.gateways.push(...(await Promise.all(all)));
    await Promise.all(this.gateways.map((gateway) => gateway.load()));
  }

  async oldestViewMs(): Promise<number> {
    const beganMs = nowMs();
    const ages = await Promise.all(this.gateways.map((gateway) => gateway.ageMs()));
    return Math.max(...ages) + nowMs() - beganMs;
  }

  async replace(index: number): Promise<void> {
    const gateway = await GatewayProcess.start(this.#orders(index));
    this.gateways.push(gateway);
    await gateway.load();
  }

  end(): Promise<SpendReport[]> {
    return Promise.all(this.gateways.filter(({ isAlive }) => isAlive).map((gateway) => gateway.end()));
  }

  #orders(index: number): Omit<SpendOrders, 'file'> {
    const { server, limit, ids = ['1'], tags = 1, strict = 0, perSecond } = this.#setup;
    return {
      server,
      limit,
      ids: [...ids],
      tags,
      isStrict: index < strict,
      gateways: PROCESSES,
      load: {
        perSecond: perSecond * ids.length,
        skew: SKEW,
        moveMs: MOVE_MS,
        index,
        of: PROCESSES,
      },
    };
  }
}

interface Seen {
  readonly load: Load;
  readonly added: Added;
  readonly reports: readonly SpendReport[];
  readonly beganMs: number;
  readonly endedMs: number;
  readonly overMs: number;
}

function outcomeOf(
  { limit, ids = ['1'], recoveredWithinMs, someMayStarve = false }: LoadThrough,
  { load, added, reports, beganMs, endedMs, overMs }: Seen,
): LeaseOutcome {
  const { overdraft, leaseMs } = load.numbers;
  const passed = load.gateways.flatMap((gateway) => gateway.passed);
  const byId = ids.map((id) => passed.filter((each) => each.id === id));
  const boundOfLeases = PROCESSES * overdraft + load.ratePerMs * leaseMs;
  const sum = (of: (report: SpendReport) => number): number => reports.reduce((total, each) => total + of(each), 0);
  const errors = reports.flatMap((report) => report.errors);
  const byPolicy = sum((report) => report.byPolicy);
  // Where syncs are so slow that Redis decides, and misses its deadline, the limiter's own local buckets do, which are full.
  const local = limit.onFailure === 'local' && byPolicy > 0 ? limit.burst + load.ratePerMs * (overMs - beganMs) : 0;
  const waited = (100 * sum(({ waits }) => waits)) / sum(({ asked }) => asked);
  return {
    passed: passed.length,
    allowed: ids.length * (limit.burst + load.ratePerMs * (overMs - beganMs)),
    exceeded: Math.max(...byId.map((each) => mostBeyond(each, load.ratePerMs))) - limit.burst,
    bound: boundOfLeases + added.tokens + local,
    recoveredMs: recoveredAfterMs(someMayStarve ? [] : load.gateways, {
      byId,
      perMs: load.ratePerMs,
      sinceMs: endedMs,
    }),
    recoveredWithinMs,
    note: [
      ...(added.note === undefined ? [] : [added.note]),
      `${waited.toFixed(1)} % waited`,
      `${sum(({ unavailable }) => unavailable)} unavailable`,
      `${byPolicy} by policy`,
    ].join('; '),
    promises: [
      [errors.length === 0, `errors: ${errors[0] ?? ''}`],
      [boundOfLeases <= limit.overshoot * limit.burst, `leases add ${boundOfLeases}, more than the overshoot`],
    ],
  };
}

/** When each id had nearly the rate again, and each of the processes had let a request through. */
function recoveredAfterMs(
  gateways: readonly GatewayProcess[],
  { byId, perMs, sinceMs }: { byId: readonly (readonly Passed[])[]; perMs: number; sinceMs: number },
): number | undefined {
  const later = (passed: readonly Passed[]): number[] =>
    passed.flatMap(({ toMs }) => (toMs >= sinceMs ? [toMs] : [])).toSorted((a, b) => a - b);
  const enough = Math.max(1, Math.floor(RATE_SHARE * perMs * RATE_WINDOW_MS));
  const used = byId.map((passed) =>
    later(passed).find((toMs, i, all) => (all[i + enough - 1] ?? Infinity) <= toMs + RATE_WINDOW_MS),
  );
  const first = gateways.filter(({ isAlive }) => isAlive).map((gateway) => later(gateway.passed)[0]);
  const lastMs = Math.max(...[...used, ...first].map((ms) => ms ?? Infinity));
  return lastMs === Infinity ? undefined : lastMs - sinceMs;
}

/** How many tokens come back in a millisecond. */
function ratePerMs({ count, period }: SpendLimit): number {
  const seconds = Number(/^(\d+)s$/.exec(period)?.[1]);
  return count / (1000 * seconds);
}
