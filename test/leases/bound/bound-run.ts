import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LeaseDescription } from '@sluice/core/store';
import { mostBeyond } from '../../redis/leases/most-beyond.ts';
import { running } from '../../redis/servers/running.ts';
import { answerOf, forkedWith, watched } from '../../redis/processes/answering-process.ts';
import type { BoundLimit, BoundLoad, BoundOrders, BoundReport } from './process.mjs';

const FILE = fileURLToPath(new URL('process.mjs', import.meta.url));
const GATEWAYS = 4;
const LIMIT: BoundLimit = { burst: 1000, count: 1000, period: '1s', overshoot: 0.1 };
const PER_MS = LIMIT.count / 1000;
const OF_RATE = 3;
const MOVES_EVERY_MS = 300;
/** From the order to its first request. */
const LEAD_MS = 50;

/**
 * The most of the requests that any processes decide at once which neither exceed the bound nor guess. A process to which the
 * requests move has heard nothing of the bucket since they left it. For a round trip, it can let its overdraft through, and
 * has to let the others wait or to ask Redis.
 */
export function mostAtOnce(roundTripMs: number, overdraftTokens: number): number {
  const perMove = OF_RATE * PER_MS * MOVES_EVERY_MS;
  const unknown = OF_RATE * PER_MS * Math.min(roundTripMs, MOVES_EVERY_MS);
  return 1 - Math.max(0, unknown - overdraftTokens) / perMove;
}

/** What came of one run. */
export interface BoundRun {
  /** By how many tokens the limit was exceeded in the worst window, and by how many it may be. */
  readonly exceeded: number;
  readonly bound: number;
  /** As a part of what the limit allows. */
  readonly admittedShare: number;
  /** As parts of all decisions: those that no call of Redis made, and those that waited for a sync. */
  readonly leasedShare: number;
  readonly waitedShare: number;
  readonly unavailable: number;
  /** How many tokens a process may let through before it reports them. */
  readonly overdraft: number;
}

type Leased = Extract<LeaseDescription, { readonly leased: true }>;

let ids = 0;

/** Processes that share a limit through one Redis. */
export class BoundProcesses {
  readonly #children: readonly ChildProcess[];
  readonly #lease: Leased;

  private constructor(children: readonly ChildProcess[], lease: Leased) {
    this.#children = children;
    this.#lease = lease;
  }

  /** Starts them, and waits until they are connected. */
  static async start(url: string): Promise<BoundProcesses> {
    const children = Array.from({ length: GATEWAYS }, (_, index) => {
      return forkedWith(FILE, { url, index, gateways: GATEWAYS, limit: LIMIT } satisfies BoundOrders);
    });
    running.add({ close: async () => void (await Promise.all(children.map((child) => end(child)))) });
    const [lease] = await Promise.all(children.map((child) => answerOf<LeaseDescription>(child)));
    if (lease?.leased !== true) throw new Error('The limit is not leased.');
    return new BoundProcesses(children, lease);
  }

  /** Offers more than the rate to a bucket of its own, all to one process, and every while to the next one. */
  async run(lastsMs: number): Promise<BoundRun> {
    const startMs = Number(process.hrtime.bigint()) / 1e6 + LEAD_MS;
    const load: BoundLoad = {
      id: String((ids += 1)),
      perSecond: OF_RATE * LIMIT.count,
      moveMs: MOVES_EVERY_MS,
      startMs,
      lastsMs,
    };
    const answers = Promise.all(this.#children.map((child) => answerOf<BoundReport>(child)));
    for (const child of this.#children) child.send(load);
    return this.#runOf(await answers, startMs);
  }

  async end(): Promise<void> {
    await Promise.all(this.#children.map((child) => end(child)));
  }

  #runOf(reports: readonly BoundReport[], startMs: number): BoundRun {
    const passed = reports.flatMap((report) => report.passed);
    const sum = (of: (report: BoundReport) => number): number => reports.reduce((total, each) => total + of(each), 0);
    const asked = sum((report) => report.asked);
    // On a busy machine, the last of them are late.
    const lastedMs = Math.max(...passed.map(({ toMs }) => toMs)) - startMs;
    const ideal = Math.min(asked, LIMIT.burst + PER_MS * lastedMs);
    return {
      exceeded: mostBeyond(passed, PER_MS) - LIMIT.burst,
      bound: this.#lease.bound,
      overdraft: this.#lease.overdraft,
      admittedShare: passed.length / ideal,
      leasedShare: 1 - sum(({ exact }) => exact) / asked,
      waitedShare: sum(({ waits }) => waits) / asked,
      unavailable: sum(({ unavailable }) => unavailable),
    };
  }
}

/** Keeps cores busy until it is ended. */
export function busyCores(count: number): { end(): Promise<void> } {
  const children = Array.from({ length: count }, () => watched(fork(BUSY, { execArgv: [], stdio: 'ignore' })));
  return { end: async () => void (await Promise.all(children.map((child) => end(child)))) };
}

const BUSY = fileURLToPath(new URL('busy.mjs', import.meta.url));

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}
