import { createLimiter, everyone, type Decision, type FailurePolicy } from '@sluice/core';
import { createScheduler, type Scheduler, type SchedulerError } from '@sluice/core/scheduler';
import { redisStore } from '@sluice/redis';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { realDelay } from '../../real-delay.ts';
import { sized } from '../../sized.ts';
import { run } from '../processes/run.ts';
import { redisServer, type RedisServer } from '../servers/redis-server.ts';
import { running } from '../servers/running.ts';
import { until } from '../servers/until.ts';
import type { NumberedOrders } from './numbered.mjs';

const api = [{ limit: 'Api', id: 'everyone' }] as const;
const CLOCK = new URL('../processes/shifted-clock.mjs', import.meta.url).href;

function limiterOn(
  { url }: RedisServer,
  limit: object,
  onFailure: FailurePolicy = 'closed',
  deadlineMs = 10_000,
  prefix = 'sluice:',
) {
  const store = redisStore({ url, prefix, log: false });
  const limits = { Api: { key: everyone(), count: 100, period: '1s' as const, ...limit } };
  const limiter = createLimiter({ limits, store, log: false, failure: { onFailure, deadlineMs } });
  running.add({ close: () => limiter.close({ store: true }) });
  return limiter;
}

describe('a process with 500 waiting calls that is killed', () => {
  const LIMIT = { burst: 5000, count: 400, period: '1s' };
  const AHEAD_TOKENS = (50 / 1000) * LIMIT.count;
  /** The level is read within a few milliseconds. */
  const UNSURE_TOKENS = 8;

  test('costs the other seven at most what `ahead` is of the rate, also where clocks differ or jump', async () => {
    const server = await redisServer();
    const limiter = limiterOn(server, LIMIT);
    await limiter.ready();
    const file = join(mkdtempSync(join(tmpdir(), 'sluice-')), 'begun');
    const clocks = [`?ms=3600000`, `?ms=-3600000`, `?ms=3600000&afterMs=300`, `?ms=-3600000&afterMs=300`];
    const processes = Array.from({ length: 8 }, (_, i) => {
      const orders: NumberedOrders = { url: server.url, limit: LIMIT, calls: i === 7 ? 500 : 80, file };
      const clock = clocks[i];
      const args = clock === undefined ? [] : ['--import', CLOCK + clock];
      return run('../scheduled/numbered.mjs', [JSON.stringify(orders)], args);
    });
    await Promise.all(processes.map((each) => once(each, 'message')));
    // Nearly empty, so that what is taken can be read from its level: it is never full meanwhile.
    await limiter.charge([{ ...api[0], cost: LIMIT.burst }]);
    const before = await levelOf();
    const waiting = processes.map((each) => once(each, 'message'));
    // Before any begins: on a busy machine, one may have ended when the last one begins.
    const others = processes.slice(0, 7).map((each) => once(each, 'exit'));
    for (const each of processes) each.send('go');
    await Promise.all(waiting);
    await until('it has begun some calls', () => begunBy(processes[7]!.pid!).length >= 20);
    processes[7]!.kill('SIGKILL');
    await Promise.all(others);

    const after = await levelOf();
    const taken = after.tokens - before.tokens + ((after.atMs - before.atMs) / 1000) * LIMIT.count;
    const begun = readFileSync(file, 'utf8').trim().split('\n');
    expect(new Set(begun).size).toBe(begun.length);
    for (const { pid } of processes.slice(0, 7)) expect(begunBy(pid!)).toHaveLength(80);
    expect(begunBy(processes[7]!.pid!).length).toBeLessThan(480);
    // On a busy machine, it is less sure when a level was read.
    const unsure = UNSURE_TOKENS + before.unsureTokens + after.unsureTokens;
    expect(taken - begun.length).toBeGreaterThan(-unsure);
    expect(taken - begun.length).toBeLessThan(AHEAD_TOKENS + unsure);

    function begunBy(pid: number): readonly string[] {
      const lines = readFileSync(file, { encoding: 'utf8', flag: 'a+' }).split('\n');
      return lines.filter((line) => line.startsWith(`${pid}:`));
    }

    async function levelOf(): Promise<Record<'tokens' | 'unsureTokens' | 'atMs', number>> {
      const fromMs = performance.now();
      const { resetAfterMs } = await limiter.check([{ ...api[0], cost: 0 }]);
      const tookMs = performance.now() - fromMs;
      const tokensIn = (ms: number): number => (ms / 1000) * LIMIT.count;
      return { tokens: tokensIn(resetAfterMs), unsureTokens: tokensIn(tookMs / 2), atMs: fromMs + tookMs / 2 };
    }
  });
});

const POLICIES = ['closed', 'open', 'local'] as const;
const OUTAGES = ['hangs', 'is killed'] as const;
const OUTAGE_MS = sized(1000, 10_000);
const RATE = 100;

/** Calls that wait while Redis is gone, and how many of them began. */
class OutageCalls {
  readonly #limiter: ReturnType<typeof limiterOn>;
  readonly #scheduler: Scheduler<'Api'>;
  /** Whether the store decided each call: on a busy machine it answers late, and the policy does. */
  readonly #starts: boolean[] = [];
  readonly #failures: unknown[] = [];
  readonly #callers: readonly Promise<void>[];
  #calls = 0;
  #isOver = false;

  constructor(limiter: ReturnType<typeof limiterOn>) {
    this.#limiter = limiter;
    this.#scheduler = createScheduler(limiter);
    this.#callers = Array.from({ length: 30 }, () => this.#call());
  }

  async #call(): Promise<void> {
    const work = ({ failure }: Decision): Promise<void> => (this.#starts.push(failure === undefined), realDelay(50));
    while (!this.#isOver) {
      this.#calls++;
      // oxlint-disable-next-line no-await-in-loop -- one call after the other
      await this.#scheduler.run(api, work).catch((error: unknown) => {
        this.#failures.push(error);
        this.#isOver = true;
      });
    }
  }

  begun(): Promise<void> {
    return until('the store decides', () => this.#starts.length > 20);
  }

  decidesAgain(): Promise<void> {
    return until('the store decides', async () => (await this.#limiter.check(api)).failure === undefined);
  }

  async startsIn(ms: number): Promise<readonly boolean[]> {
    const before = this.#starts.length;
    await realDelay(ms);
    return this.#starts.slice(before);
  }

  /** Ends the calls, and returns what must be left: no failure, and each call has begun once. */
  async end(): Promise<unknown> {
    this.#isOver = true;
    await Promise.all(this.#callers);
    const { size, running: left } = this.#scheduler;
    return { failures: this.#failures, begun: this.#starts.length - this.#calls, left: size + left };
  }
}

/** An outage, during which calls of each policy wait. */
async function outage(how: (typeof OUTAGES)[number]) {
  const server = await redisServer();
  const limiters = POLICIES.map((policy) => limiterOn(server, { burst: 1 }, policy, 50, policy));
  await Promise.all(limiters.map((limiter) => limiter.ready()));
  const all = limiters.map((limiter) => new OutageCalls(limiter));
  await Promise.all(all.map((each) => each.begun()));
  if (how === 'hangs') server.freeze();
  else await server.kill();
  await realDelay(200);
  const during = await Promise.all(all.map((each) => each.startsIn(OUTAGE_MS)));
  if (how === 'hangs') server.thaw();
  else await server.start();
  await Promise.all(all.map((each) => each.decidesAgain()));
  await realDelay(1000);
  const fromMs = performance.now();
  const after = await Promise.all(all.map((each) => each.startsIn(2000)));
  const allowed = ((performance.now() - fromMs) / 1000) * RATE;
  const ends = await Promise.all(all.map((each) => each.end()));
  return POLICIES.map((policy, i) => ({ policy, allowed, during: during[i]!, after: after[i]!, end: ends[i] }));
}

describe.each(OUTAGES)('while Redis %s', (how) => {
  let seen: Awaited<ReturnType<typeof outage>>;
  beforeAll(async () => {
    seen = await outage(how);
  }, 120_000);

  test.each(POLICIES)(
    'with the policy `%s`, each call begins once, as documented, and the rate holds after it',
    (policy) => {
      const { during, after, allowed, end } = seen.find((each) => each.policy === policy)!;
      const seconds = OUTAGE_MS / 1000;
      const [least, most] = {
        closed: [0, 0.1 * RATE],
        open: [2 * RATE * seconds, Infinity],
        local: [0, 1.1 * RATE * seconds + 5],
      }[policy];
      expect(during.length).toBeGreaterThanOrEqual(least!);
      expect(during.length).toBeLessThanOrEqual(most!);
      expect(after.filter(Boolean).length).toBeLessThanOrEqual(allowed * 1.1 + 6);
      // Few on a machine that is busy with other tests, and none if the scheduler does not go on.
      expect(after.length).toBeGreaterThan(allowed * 0.05);
      expect(end).toEqual({ failures: [], begun: 0, left: 0 });
    },
  );
});

describe('close, while thousands wait,', () => {
  const WAITING = sized(2000, 10_000);

  test('ends them, and nothing stays taken for them', async () => {
    const limiter = limiterOn(await redisServer(), { burst: 1, count: 10 });
    const scheduler = createScheduler(limiter);
    let begun = 0;
    const calls = Array.from({ length: WAITING }, () => scheduler.run(api, () => void begun++));
    const ends = Promise.allSettled(calls);
    await calls[0];
    await scheduler.close();
    const reasons = (await ends).flatMap((end) =>
      end.status === 'rejected' ? (end.reason as SchedulerError).reason : [],
    );
    expect(reasons).toEqual(Array.from({ length: WAITING - begun }, () => 'closed'));
    await until('the tokens are back', async () => (await limiter.check(api)).retryAfterMs <= 100);
    expect(begun).toBeLessThan(20);
  });

  test('begins them with `drain`', async () => {
    const limiter = limiterOn(await redisServer(), { burst: 1, count: 5000 });
    const scheduler = createScheduler(limiter);
    let begun = 0;
    const calls = Array.from({ length: WAITING }, () => scheduler.run(api, () => void begun++));
    await scheduler.close({ drain: true });
    await Promise.all(calls);
    expect(begun).toBe(WAITING);
  });
});
