import { once } from 'node:events';
import { expect, it } from 'vitest';
import type { HammerOrders, Hammered } from './processes/hammer.mjs';
import { sized } from '../sized.ts';
import { run } from './processes/run.ts';
import { redisServer } from './servers/redis-server.ts';

const PROCESSES = sized(4, 8);
const LIMIT = { burst: 100, count: 20, period: '1s' };
/** What a roll-out that lowers a burst runs side by side. */
const BEFORE = { burst: sized(300, 1000), count: 100, period: '1s' };
const AFTER = { burst: 100, count: 100, period: '1s' };

// What a script call runs, and what a connection sends when it is made.
const COMMANDS = [
  'evalsha',
  'eval',
  'time',
  'get',
  'set',
  'del',
  'info',
  'client',
  'hello',
  'select',
  'script',
  'config',
  // Each process has a slot for its numbers, and looks who else has one: both without a request.
  'zcard',
  'zscore',
  'zcount',
  'zrange',
  'zadd',
  'pexpire',
];

function hammered(url: string, orders: Pick<HammerOrders, 'inFlight' | 'rememberDenialsMs'>): Promise<Hammered[]> {
  const order: HammerOrders = { url, ...LIMIT, lastsMs: sized(1000, 2000), ...orders };
  return hammeredBy(Array.from({ length: PROCESSES }, () => order));
}

/** What processes have seen that all hammer one bucket, each with orders of its own. */
async function hammeredBy(orders: readonly HammerOrders[]): Promise<Hammered[]> {
  return seenBy<Hammered>('hammer.mjs', orders);
}

/** What processes of a program have seen, which all begin at the same time, each with orders of its own. */
async function seenBy<T>(program: string, orders: readonly object[]): Promise<T[]> {
  const children = orders.map((order) => run(program, [JSON.stringify(order)]));
  await Promise.all(children.map((child) => once(child, 'message')));
  const seen = children.map(async (child) => ((await once(child, 'message')) as [T])[0]);
  for (const child of children) child.send('go');
  return Promise.all(seen);
}

/** How many tokens come back from the first of the moments to the last. */
function back(firstMs: readonly number[], lastMs: readonly number[]): number {
  return ((Math.max(...lastMs) - Math.min(...firstMs)) / 1000) * LIMIT.count;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

it.each([
  { name: 'asking Redis each time', rememberDenialsMs: 0, inFlight: 4 },
  { name: 'remembering denials', rememberDenialsMs: 1000, inFlight: 4 },
])(
  `${PROCESSES} processes hammering one key, $name, admit exactly burst + rate × time, in one call each`,
  async (orders) => {
    const server = await redisServer();
    const seen = await hammered(server.url, orders);
    const admitted = sum(seen.map(({ allowed }) => allowed));
    const decisions = sum(seen.map((one) => one.decisions));
    const calls = await server.commandCalls();

    // The first call was decided between its sending and its answer, and so was the last one. Of what comes back
    // meanwhile one token may not have been asked for at the end.
    const least = back(
      seen.map(({ firstAnsweredMs }) => firstAnsweredMs),
      seen.map(({ lastSentMs }) => lastSentMs),
    );
    const most = back(
      seen.map(({ firstSentMs }) => firstSentMs),
      seen.map(({ lastAnsweredMs }) => lastAnsweredMs),
    );
    expect(seen.map(({ byPolicy }) => byPolicy)).toEqual(Array.from({ length: PROCESSES }, () => 0));
    expect(admitted).toBeGreaterThan(LIMIT.burst + least - 1);
    expect(admitted).toBeLessThanOrEqual(LIMIT.burst + most);

    // Each process asks for the time once, by a call that also tells the server the script.
    const scriptCalls = (calls.get('evalsha') ?? 0) + (calls.get('eval') ?? 0);
    expect(scriptCalls).toBeLessThanOrEqual(decisions + 2 * PROCESSES);
    expect([...calls.keys()].filter((name) => !COMMANDS.includes(name.split('|')[0]!))).toEqual([]);
  },
);

it.each([0, 1000])(
  'two versions with different bursts on one key admit no more than the larger burst + rate × time (rememberDenialsMs: %i)',
  async (rememberDenialsMs) => {
    const server = await redisServer();
    const common = { url: server.url, lastsMs: sized(1500, 3000), inFlight: 32, rememberDenialsMs };
    const seen = await hammeredBy([BEFORE, AFTER].map((numbers) => ({ ...common, ...numbers })));
    const admitted = sum(seen.map(({ allowed }) => allowed));
    const spanMs =
      Math.max(...seen.map(({ lastAnsweredMs }) => lastAnsweredMs)) -
      Math.min(...seen.map(({ firstSentMs }) => firstSentMs));
    expect(seen.map(({ byPolicy }) => byPolicy)).toEqual([0, 0]);
    expect(sum(seen.map((one) => one.decisions))).toBeGreaterThan(2 * BEFORE.burst);
    expect(admitted).toBeGreaterThanOrEqual(BEFORE.burst);
    expect(admitted).toBeLessThanOrEqual(BEFORE.burst + (spanMs / 1000) * BEFORE.count);
  },
);

it('four processes that ask for one of two alternatives take from each bucket exactly what fits', async () => {
  const { url } = await redisServer();
  const TICKS = 3600 * 16_000_000;
  const bucket = (limit: string, burst: number) => {
    const [incrementTicks, capTicks] = [TICKS, burst * TICKS];
    return { limit, id: 'one', incrementTicks, fitTicks: capTicks, capTicks, mode: 'check-and-spend' as const };
  };
  const ceiling = bucket('Ceiling', 100);
  // The second alternative is tried only when the first is used up, and both end at the ceiling.
  const alternatives = [
    [bucket('Own', 40), ceiling],
    [ceiling, bucket('Pool', 70)],
  ];
  const orders = Array.from({ length: 4 }, () => ({ url, calls: 100, alternatives }));
  const seen = await seenBy<Record<'first' | 'second' | 'denied', number>>('alternatives.mjs', orders);
  const total = (outcome: 'first' | 'second' | 'denied') => sum(seen.map((taken) => taken[outcome]));
  expect([total('first'), total('second'), total('denied')]).toEqual([40, 60, 300]);
});
