import type { RedisServer } from '../../redis/servers/redis-server.ts';
import type { LeaseNumbers } from '../../../packages/redis/src/leases/rules/lease-numbers.ts';
import { BoundCheck } from '../bound-check.ts';
import { GatewayProcesses } from './gateway-processes.ts';
import type { GatewayOrders, Numbers, Report } from './gateway.mjs';
import { leaseNumbersOf, type Scenario } from './scenario.ts';
import type { Setup } from './simulation.ts';

const TICKS_PER_MS = 16_000;
const WARM_UP_MS = 1000;
/** So that no failure policy decides while the machine is busy with something else. */
const PATIENT_MS = 5000;

export interface ProcessesOptions {
  readonly gateways: number;
  readonly exponent: number;
  readonly seed: number;
  /** How long each load lasts. */
  readonly lastsMs: number;
}

/** What some processes did at a load. */
export interface LoadFigures {
  /** Decisions by the limits. Not those of a failure policy. */
  readonly decisionsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly gatewayMicrosPerDecision: number;
  readonly redisMicrosPerDecision: number;
  /** The processor time of Redis, as a part of one core. */
  readonly redisCores: number;
  readonly redisCallsPerSecond: number;
}

/** What they did after the market had opened. */
export interface OpenFigures extends LoadFigures {
  readonly offeredPerSecond: number;
  readonly passedPerSecond: number;
  readonly uncheckedPerSecond: number;
  readonly unavailablePerSecond: number;
  /** How many tokens the limit of everyone was exceeded by, in the worst window of time. */
  readonly overTokens: number;
}

/** Never exceeded, so that each decision takes tokens. Its leases last as long as those of most limits of clients. */
const ROOMY: Numbers = { burst: 100_000_000, count: 10_000_000, period: '1s', overshoot: 0.1 };

/** Measures how many decisions the processes make when each of them always has some requests in progress. */
export async function mostDecisions(
  server: RedisServer,
  { setup, inFlight, clients }: { setup: Setup; inFlight: number; clients: number },
  options: ProcessesOptions,
): Promise<LoadFigures> {
  const client = clients > 0 ? ROOMY : undefined;
  const orders = { ...options, url: server.url, setup, clients, everyone: ROOMY, client, deadlineMs: PATIENT_MS };
  return withGateways(server, orders, async (gateways) => {
    await gateways.run({ lastsMs: Math.min(WARM_UP_MS, options.lastsMs), inFlight });
    const before = await redisUse(server);
    const reports = await gateways.run({ lastsMs: options.lastsMs, inFlight });
    return figuresOf(reports, before, await redisUse(server));
  });
}

/** Lets the market open, with the limit of everyone: the requests of all processes together rise within 200 ms. */
export async function marketOpen(
  server: RedisServer,
  setup: Setup,
  { rise, everyone, deadlineMs }: Scenario,
  options: ProcessesOptions,
): Promise<OpenFigures> {
  const { burst, count, periodMs, overshoot } = everyone;
  const numbers: Numbers = { burst, count, period: `${periodMs}ms`, overshoot };
  const orders = { ...options, url: server.url, setup, deadlineMs, clients: 0, everyone: numbers, client: undefined };
  return withGateways(server, orders, async (gateways) => {
    const perSecond = rise.perSecond / options.gateways;
    const toPerSecond = rise.toPerSecond / options.gateways;
    await gateways.run({
      perSecond,
      toPerSecond: perSecond,
      lastsMs: Math.min(WARM_UP_MS, options.lastsMs),
      atMs: 0,
      forMs: 1,
    });
    const before = await redisUse(server);
    const lastsMs = rise.atMs + rise.forMs + options.lastsMs;
    const reports = await gateways.run({ ...rise, perSecond, toPerSecond, lastsMs });
    const use = await redisUse(server);
    const seconds = Math.max(...reports.map(({ lastedMs }) => lastedMs)) / 1000;
    const perSecondOf = (what: (report: Report) => number): number => sum(reports, what) / seconds;
    return {
      ...figuresOf(reports, before, use),
      offeredPerSecond: perSecondOf(({ offered }) => offered),
      passedPerSecond: perSecondOf(({ passed }) => passed),
      uncheckedPerSecond: perSecondOf(({ unchecked }) => unchecked),
      unavailablePerSecond: perSecondOf(({ unavailable }) => unavailable),
      overTokens: overTokensOf(reports, leaseNumbersOf(everyone, options.gateways)),
    };
  });
}

async function withGateways<T>(
  server: RedisServer,
  orders: GatewayOrders,
  use: (gateways: GatewayProcesses) => Promise<T>,
): Promise<T> {
  await server.call('FLUSHALL');
  const gateways = await GatewayProcesses.start(orders);
  try {
    return await use(gateways);
  } finally {
    await gateways.end();
  }
}

interface RedisUse {
  readonly atMs: number;
  readonly cpuSeconds: number;
  readonly calls: number;
}

async function redisUse(server: RedisServer): Promise<RedisUse> {
  const cpu = await server.call<string>('INFO', 'cpu');
  const calls = await server.commandCalls();
  const seconds = (name: string): number => Number(new RegExp(`^used_cpu_${name}:([\\d.]+)`, 'm').exec(cpu)![1]);
  return {
    atMs: performance.now(),
    cpuSeconds: seconds('user') + seconds('sys'),
    calls: (calls.get('evalsha') ?? 0) + (calls.get('eval') ?? 0),
  };
}

function figuresOf(reports: readonly Report[], before: RedisUse, after: RedisUse): LoadFigures {
  const latencies = reports.flatMap(({ latenciesMs }) => latenciesMs).toSorted((a, b) => a - b);
  const made = sum(reports, ({ offeredInAll }) => offeredInAll);
  const seconds = Math.max(...reports.map(({ lastedMs }) => lastedMs)) / 1000;
  const redisSeconds = after.cpuSeconds - before.cpuSeconds;
  const wholeSeconds = (after.atMs - before.atMs) / 1000;
  return {
    decisionsPerSecond: sum(reports, ({ decided }) => decided) / seconds,
    p50Ms: latencies[Math.floor(0.5 * latencies.length)]!,
    p99Ms: latencies[Math.floor(0.99 * latencies.length)]!,
    gatewayMicrosPerDecision: sum(reports, ({ cpuMicros }) => cpuMicros) / made,
    redisMicrosPerDecision: (1e6 * redisSeconds) / made,
    redisCores: redisSeconds / wholeSeconds,
    redisCallsPerSecond: (after.calls - before.calls) / wholeSeconds,
  };
}

function overTokensOf(reports: readonly Report[], { burst, fitTicks, intervalTicks }: LeaseNumbers): number {
  const check = new BoundCheck(fitTicks, 0);
  const passedAtMs = reports.flatMap((report) => report.passedAtMs).toSorted((a, b) => a - b);
  for (const ms of passedAtMs) check.admit((ms - passedAtMs[0]!) * TICKS_PER_MS, intervalTicks);
  return Math.max(0, Math.round((check.worstShare - 1) * burst));
}

function sum<T>(of: readonly T[], amount: (each: T) => number): number {
  return of.reduce((total, each) => total + amount(each), 0);
}
