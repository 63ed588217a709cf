import { createLimiter, everyone, type Decision, type FailurePolicy } from '@sluice/core';
import { createScheduler, type SchedulerError } from '@sluice/core/scheduler';
import { redisStore } from '@sluice/redis';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { realDelay } from '../../real-delay.ts';
import { sized } from '../../sized.ts';
import { run } from '../processes/run.ts';
import { redisServer, type RedisServer } from '../servers/redis-server.ts';
import { running } from '../servers/running.ts';
import { until } from '../servers/until.ts';
import type { NumberedOrders } from './numbered.mjs';

const api = [{ limit: 'Api', id: 'everyone' }] as const;
const CLOCK = new URL('../processes/shifted-clock.mjs', import.meta.url).href;

function limiterOn({ url }: RedisServer, limit: object, onFailure: FailurePolicy = 'closed', deadlineMs = 10_000) {
  const store = redisStore({ url, log: false });
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
    for (const each of processes) each.send('go');
    await Promise.all(waiting);
    const others = processes.slice(0, 7).map((each) => once(each, 'message'));
    await until('it has begun some calls', () => begunBy(processes[7]!.pid!).length >= 20);
    processes[7]!.kill('SIGKILL');
    await Promise.all(others);

    const after = await levelOf();
    const taken = after.tokens - before.tokens + ((after.atMs - before.atMs) / 1000) * LIMIT.count;
    const begun = readFileSync(file, 'utf8').trim().split('\n');
    expect(new Set(begun).size).toBe(begun.length);
    for (const { pid } of processes.slice(0, 7)) expect(begunBy(pid!)).toHaveLength(80);
    expect(begunBy(processes[7]!.pid!).length).toBeLessThan(480);
    expect(taken - begun.length).toBeGreaterThan(-UNSURE_TOKENS);
    expect(taken - begun.length).toBeLessThan(AHEAD_TOKENS + UNSURE_TOKENS);

    function begunBy(pid: number): readonly string[] {
      const lines = readFileSync(file, { encoding: 'utf8', flag: 'a+' }).split('\n');
      return lines.filter((line) => line.startsWith(`${pid}:`));
    }

    async function levelOf(): Promise<{ readonly tokens: number; readonly atMs: number }> {
      const fromMs = performance.now();
      const { resetAfterMs } = await limiter.check([{ ...api[0], cost: 0 }]);
      return { tokens: (resetAfterMs / 1000) * LIMIT.count, atMs: (fromMs + performance.now()) / 2 };
    }
  });
});

describe.each(['hangs', 'is killed'] as const)('while Redis %s', (how) => {
  const OUTAGE_MS = sized(1500, 10_000);
  const RATE = 100;

  test.each(['closed', 'open', 'local'] as const)(
    'with the policy `%s`, each call begins once, as documented, and the rate holds after it',
    async (policy) => {
      const server = await redisServer();
      const limiter = limiterOn(server, { burst: 1 }, policy, 50);
      await limiter.ready();
      const scheduler = createScheduler(limiter);
      // Whether the store decided each call: on a busy machine it answers late, and the policy does.
      const starts: boolean[] = [];
      const failures: unknown[] = [];
      let [calls, isOver] = [0, false];
      const caller = async (): Promise<void> => {
        // oxlint-disable-next-line no-unmodified-loop-condition -- it is modified by the test
        while (!isOver) {
          calls++;
          const work = ({ failure }: Decision): Promise<void> => (starts.push(failure === undefined), realDelay(50));
          // oxlint-disable-next-line no-await-in-loop -- one call after the other
          await scheduler.run(api, work).catch((error: unknown) => {
            failures.push(error);
            isOver = true;
          });
        }
      };
      const callers = Array.from({ length: 30 }, caller);
      const startsIn = async (ms: number): Promise<readonly boolean[]> => {
        const before = starts.length;
        await realDelay(ms);
        return starts.slice(before);
      };
      await until('the store decides', () => starts.length > 20);
      if (how === 'hangs') server.freeze();
      else await server.kill();
      await realDelay(200);
      const { length: during } = await startsIn(OUTAGE_MS);
      const seconds = OUTAGE_MS / 1000;
      const [least, most] = {
        closed: [0, 0.1 * RATE],
        open: [2 * RATE * seconds, Infinity],
        local: [0, 1.1 * RATE * seconds + 5],
      }[policy];
      expect(during).toBeGreaterThanOrEqual(least!);
      expect(during).toBeLessThanOrEqual(most!);

      if (how === 'hangs') server.thaw();
      else await server.start();
      await until('the store decides', async () => (await limiter.check(api)).failure === undefined);
      await realDelay(1500);
      const [fromMs, after] = [performance.now(), await startsIn(2000)];
      const allowed = ((performance.now() - fromMs) / 1000) * RATE;
      expect(after.filter(Boolean).length).toBeLessThanOrEqual(allowed * 1.1 + 6);
      expect(after.length).toBeGreaterThan(allowed * 0.2);
      isOver = true;
      await Promise.all(callers);
      expect([failures, starts.length, scheduler.size, scheduler.running]).toEqual([[], calls, 0, 0]);
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
