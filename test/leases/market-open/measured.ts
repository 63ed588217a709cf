import { availableParallelism, cpus, loadavg } from 'node:os';
import { Progress } from '../../../bench/harness/progress.mjs';
import { redisServer, type RedisServer } from '../../redis/servers/redis-server.ts';
import { running } from '../../redis/servers/running.ts';
import { marketOpen, mostDecisions, type LoadFigures, type OpenFigures, type ProcessesOptions } from './on-redis.ts';
import { SETUPS, type MeasuredResult, type MostDecisions } from './result.ts';
import { leaseNumbersOf, MARKET_OPEN } from './scenario.ts';
import type { Setup } from './simulation.ts';

/** How many processes of this machine are gateways, and how many requests each of them has in progress. */
const PROCESSES = 4;
const IN_FLIGHT = 16;
const CLIENTS = [0, 1000, MARKET_OPEN.clients];

interface Plan {
  /** How often each load is measured. */
  readonly turns: number;
  readonly lastsMs: number;
  readonly seed: number;
}

/** Measures processes of this machine on a Redis of their own. */
export async function measureAll(plan: Plan): Promise<MeasuredResult> {
  const loadAverage = loadavg()[0]!;
  const progress = new Progress('processes', (2 * CLIENTS.length + SETUPS.length) * plan.turns);
  const server = await redisServer();
  const measuring = new Measuring(server, plan, progress);
  try {
    const most: MostDecisions[] = [];
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    for (const clients of CLIENTS) most.push(await measuring.mostDecisions(clients));
    const open = await measuring.marketOpen();
    progress.end();
    return {
      date: new Date().toISOString().slice(0, 10),
      machine: { processor: cpus()[0]!.model.trim(), cores: availableParallelism(), node: process.versions.node },
      loadAverage,
      redis: /^redis_version:(\S+)/m.exec(await server.call<string>('INFO', 'server'))![1]!,
      gateways: PROCESSES,
      inFlight: IN_FLIGHT,
      scenario: MARKET_OPEN,
      boundTokens: leaseNumbersOf(MARKET_OPEN.everyone, PROCESSES).boundTokens,
      most,
      open,
    };
  } finally {
    await running.closeAllBut();
  }
}

class Measuring {
  readonly #server: RedisServer;
  readonly #plan: Plan;
  readonly #progress: Progress;
  readonly #options: ProcessesOptions;

  constructor(server: RedisServer, plan: Plan, progress: Progress) {
    this.#server = server;
    this.#plan = plan;
    this.#progress = progress;
    this.#options = {
      gateways: PROCESSES,
      exponent: MARKET_OPEN.exponent,
      seed: plan.seed,
      lastsMs: plan.lastsMs,
    };
  }

  async mostDecisions(clients: number): Promise<MostDecisions> {
    const { closed, leased } = await this.#inTurns(['closed', 'leased'], `${clients} clients`, (setup) => {
      return mostDecisions(this.#server, { setup, inFlight: IN_FLIGHT, clients }, this.#options);
    });
    return { clients, closed: closed!, leased: leased! };
  }

  async marketOpen(): Promise<Readonly<Record<Setup, OpenFigures>>> {
    const setups = SETUPS.map(({ setup }) => setup);
    const figures = await this.#inTurns(setups, 'the market opens', (setup) => {
      return marketOpen(this.#server, setup, MARKET_OPEN, this.#options);
    });
    return figures as Record<Setup, OpenFigures>;
  }

  /** Measures set-ups in turns, so that what else the machine does disturbs all of them. Returns the best turns. */
  async #inTurns<T extends LoadFigures>(
    setups: readonly Setup[],
    what: string,
    measure: (setup: Setup) => Promise<T>,
  ): Promise<Partial<Record<Setup, T>>> {
    const figures = setups.map((): T[] => []);
    for (let turn = 0; turn < this.#plan.turns; turn++) {
      for (const [i, setup] of setups.entries()) {
        this.#progress.next(`${what}, ${setup}`);
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        figures[i]!.push(await measure(setup));
      }
    }
    return Object.fromEntries(setups.map((setup, i) => [setup, leastDisturbed(figures[i]!)])) as Partial<
      Record<Setup, T>
    >;
  }
}

/** The one that the other programs of the machine disturbed least: with the most decisions. */
function leastDisturbed<T extends LoadFigures>(figures: readonly T[]): T {
  return figures.reduce((best, each) => (each.decisionsPerSecond > best.decisionsPerSecond ? each : best));
}
