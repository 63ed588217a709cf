import { Controller, Get, type ExecutionContext } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import {
  SkipThrottle,
  Throttle,
  ThrottlerGuard,
  ThrottlerModule,
  ThrottlerStorageService,
  type ThrottlerOptions,
  type ThrottlerStorage,
} from '@nestjs/throttler';
import { memoryStore, type LimiterEvent, type Store } from '@sluice/core';
import { storeGuard } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { rateLimitStorage, type RateLimitStorage, type RateLimitStorageOptions } from '@sluice/nestjs';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { appOf, moduleOf, PLATFORMS, served, statuses } from './app.ts';

/** A storage on a clock that stands still. */
function still(options: RateLimitStorageOptions = {}): { readonly storage: RateLimitStorage; readonly time: FakeTime } {
  const time = new FakeTime();
  const storage = rateLimitStorage({ store: memoryStore({ time }), time, log: false, ...options });
  onTestFinished(() => storage.onApplicationShutdown());
  return { storage, time };
}

@Controller()
class HelloController {
  @Get()
  hello(): string {
    return 'hello';
  }

  @Throttle({ default: { limit: 1, ttl: 10_000 } })
  @Get('strict')
  strict(): string {
    return 'strict';
  }

  @Throttle({ default: { limit: 0, ttl: 10_000 } })
  @Get('never')
  never(): string {
    return 'never';
  }

  @SkipThrottle()
  @Get('health')
  health(): string {
    return 'well';
  }
}

const throttled = (storage: ThrottlerStorage, throttlers: ThrottlerOptions[] = [{ ttl: 60_000, limit: 3 }]) =>
  moduleOf({
    imports: [ThrottlerModule.forRoot({ throttlers, storage })],
    controllers: [HelloController],
    providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
  });

describe.each(PLATFORMS)('its ThrottlerGuard on %s', (_name, adapter) => {
  test('lets the limit through, and then one for each part of the ttl', async () => {
    const { storage, time } = still();
    const ask = await served(throttled(storage), adapter);
    const first = await ask();
    expect(['Limit', 'Remaining', 'Reset'].map((name) => first.headers.get(`X-RateLimit-${name}`))).toEqual([
      '3',
      '2',
      '20',
    ]);
    expect(await statuses(3, ask)).toEqual([200, 200, 429]);
    const denied = await ask();
    expect([denied.status, denied.headers.get('Retry-After')]).toEqual([429, '20']);
    time.advance(20_000);
    expect(await statuses(2, ask)).toEqual([200, 429]);
  });

  test('has the numbers of its decorators, and a bucket for each handler', async () => {
    const ask = await served(throttled(still().storage), adapter);
    expect(await statuses(2, () => ask('/strict'))).toEqual([200, 429]);
    expect(await statuses(2, () => ask('/never'))).toEqual([429, 429]);
    expect(await statuses(5, () => ask('/health'))).toEqual([200, 200, 200, 200, 200]);
    expect(await statuses(4, ask)).toEqual([200, 200, 200, 429]);
  });

  test('decides several throttlers', async () => {
    const throttlers = [
      { name: 'short', ttl: 1000, limit: 2 },
      { name: 'long', ttl: 60_000, limit: 3 },
    ];
    const { storage, time } = still();
    const ask = await served(throttled(storage, throttlers), adapter);
    expect(await statuses(3, ask)).toEqual([200, 200, 429]);
    time.advance(1000);
    const last = await ask();
    expect([last.status, last.headers.get('X-RateLimit-Remaining-long')]).toEqual([200, '0']);
    expect((await ask()).headers.get('Retry-After-long')).toBe('19');
  });
});

describe('the figures of a record', () => {
  const ask = (storage: RateLimitStorage, blockDuration = 10_000, limit = 2) =>
    storage.increment('ann', 10_000, limit, blockDuration, 'default');

  test('are those of a bucket', async () => {
    const { storage, time } = still();
    expect(await ask(storage)).toEqual({ totalHits: 1, timeToExpire: 5, isBlocked: false, timeToBlockExpire: 0 });
    expect(await ask(storage)).toEqual({ totalHits: 2, timeToExpire: 10, isBlocked: false, timeToBlockExpire: 0 });
    expect(await ask(storage)).toEqual({ totalHits: 3, timeToExpire: 10, isBlocked: true, timeToBlockExpire: 5 });
    time.advance(4999);
    expect(await ask(storage)).toEqual({ totalHits: 3, timeToExpire: 6, isBlocked: true, timeToBlockExpire: 1 });
    time.advance(1);
    expect(await ask(storage)).toEqual({ totalHits: 2, timeToExpire: 10, isBlocked: false, timeToBlockExpire: 0 });
  });

  test('a block is longer than the wait for a token, and does not grow by retries', async () => {
    const { storage, time } = still();
    await ask(storage, 60_000);
    await ask(storage, 60_000);
    expect(await ask(storage, 60_000)).toMatchObject({ isBlocked: true, timeToBlockExpire: 60 });
    time.advance(30_000);
    expect(await ask(storage, 60_000)).toMatchObject({ totalHits: 3, isBlocked: true, timeToBlockExpire: 30 });
    time.advance(29_999);
    expect(await ask(storage, 60_000)).toMatchObject({ isBlocked: true, timeToBlockExpire: 1 });
    time.advance(1);
    expect(await ask(storage, 60_000)).toEqual({
      totalHits: 1,
      timeToExpire: 5,
      isBlocked: false,
      timeToBlockExpire: 0,
    });
  });

  test('a block shorter than the wait for a token does not shorten it', async () => {
    const { storage } = still();
    await ask(storage, 1000);
    await ask(storage, 1000);
    expect(await ask(storage, 1000)).toMatchObject({ isBlocked: true, timeToBlockExpire: 5 });
  });

  test('throttlers of different names do not share a bucket', async () => {
    const { storage } = still();
    expect(await storage.increment('ann', 10_000, 1, 0, 'short')).toMatchObject({ isBlocked: false });
    expect(await storage.increment('ann', 10_000, 1, 0, 'long')).toMatchObject({ isBlocked: false });
    expect(await storage.increment('ann', 10_000, 1, 0, 'long')).toMatchObject({ isBlocked: true });
  });

  test('a limit of 0 denies, with the ttl as the wait', async () => {
    const { storage } = still();
    expect(await ask(storage, 10_000, 0)).toEqual({
      totalHits: 1,
      timeToExpire: 10,
      isBlocked: true,
      timeToBlockExpire: 10,
    });
  });
});

type Numbers = readonly [ttl: number, limit: number, blockDuration?: number | undefined];

/** Which of seven requests at one instant pass: those of the throttler's own storage, or of another one. */
async function passed(storage: ThrottlerStorage, [ttl, limit, blockDuration = ttl]: Numbers): Promise<string> {
  const record = () => storage.increment('ann', ttl, limit, blockDuration, 'default');
  let text = '';
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  for (let i = 0; i < 7; i++) text += (await record()).isBlocked ? '-' : 'x';
  return text;
}

/** Its own storage knows no clock but that of the process, which must not move meanwhile. */
async function passedInItsOwn([ttl, limit, blockDuration]: Numbers): Promise<string> {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const own = new ThrottlerStorageService();
  // A negative block has ended there before it begins, so that nothing is limited.
  const text = await passed(own, [ttl, limit, blockDuration! < 0 ? ttl : blockDuration]);
  own.onApplicationShutdown();
  vi.useRealTimers();
  return text;
}

describe('the numbers of a throttler', () => {
  const DAY = 86_400_000;

  const taken: Numbers[] = [
    [1000, 5],
    [999, 5],
    [500, 5],
    [100, 5],
    [1, 5],
    [0.5, 5],
    [0.001, 5],
    [0.3, 3],
    [1500.75, 5],
    [60_000.0004, 1],
    [0, 5],
    [-1, 5],
    [24.9 * DAY, 5],
    [366 * DAY, 5],
    [366 * DAY + 1, 5],
    [1000 * DAY, 1],
    [1e15, 5],
    [Infinity, 5],
    [1000, 1.5],
    [1000, 4.999],
    [1000, 0.5],
    [1000, 0],
    [1000, -1],
    [1000, -Infinity],
    [1000, Infinity],
    [Infinity, Infinity],
    [0, Infinity],
    [1000, 16_000_001],
    [86_400_000, 1e10],
    [1e15, 1e10],
    [1000, Number.MAX_SAFE_INTEGER],
    [1000, Number.MAX_VALUE],
    [1000, 3, 0.5],
    [1000, 3, 500],
    [1000, 3, 1000.5],
    [1000, 3, 400 * DAY],
    [1000, 3, Infinity],
    [1000, 3, -5],
    ['1000' as unknown as number, '3' as unknown as number],
  ];

  test.each(taken.map((numbers) => [numbers.join(', '), numbers] as const))(
    '%s decide as in its own storage, without an event',
    async (_name, numbers) => {
      const events: LimiterEvent[] = [];
      const { storage } = still({ onEvent: (event) => void events.push(event) });
      const expected = await passedInItsOwn(numbers);
      expect(await passed(storage, numbers)).toBe(expected);
      expect(events).toEqual([]);
    },
  );

  // What follows the first requests differs: there a window, here a token each time.
  test.each<readonly [numbers: Numbers, waitMs: number]>([
    [[500, 5], 100],
    [[0.5, 5], 0.1],
    [[1, 5], 0.2],
    [[1500.75, 5], 300.15],
    [[400 * DAY, 5], 80 * DAY],
    [[Infinity, 5], 366 * DAY],
    [[1000, 2.5], 500],
  ])('%j give a token back every %d ms', async (numbers, waitMs) => {
    const { storage, time } = still();
    const passes = async () =>
      !(await storage.increment('ann', numbers[0], numbers[1], numbers[0], 'default')).isBlocked;
    // oxlint-disable-next-line no-await-in-loop -- until the bucket is empty
    while (await passes());
    time.advance(waitMs - 0.001);
    expect(await passes()).toBe(false);
    time.advance(0.001);
    expect([await passes(), await passes()]).toEqual([true, false]);
  });

  test('count hits of a limit that is never reached as hits', async () => {
    const { storage } = still();
    const hits = async (limit: number) => {
      await storage.increment('ann', DAY, limit, DAY, `of ${limit}`);
      return (await storage.increment('ann', DAY, limit, DAY, `of ${limit}`)).totalHits;
    };
    expect([await hits(1e10), await hits(Infinity)]).toEqual([2, 0]);
  });

  test('a wait without an end is told as a finite number of seconds', async () => {
    const { storage } = still();
    for (const [ttl, limit, blockDuration] of [
      [Infinity, 0, Infinity],
      [1000, 0, Infinity],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const record = await storage.increment('ann', ttl, limit, blockDuration, `${ttl}`);
      expect(Object.values(record).every((value) => typeof value === 'boolean' || Number.isSafeInteger(value))).toBe(
        true,
      );
    }
  });

  test.each([
    ['limit', [10_000, Number.NaN, 0]],
    ['limit', [10_000, undefined, 0]],
    ['limit', [10_000, '', 0]],
    ['ttl', [Number.NaN, 1, 0]],
    ['ttl', ['1m', 1, 0]],
    ['blockDuration', [10_000, 1, Number.NaN]],
  ])('a %s that is not a number is told by an event, and is no error of each request', async (name, numbers) => {
    const events: LimiterEvent[] = [];
    const { storage } = still({ onEvent: (event) => void events.push(event), log: false });
    const [ttl, limit, block] = numbers as number[];
    const record = await storage.increment('ann', ttl!, limit!, block!, 'short');
    expect(record.isBlocked).toBe(false);
    expect(events).toMatchObject([{ type: 'warning', message: expect.stringContaining(`\`throttlers.${name}\``) }]);
    expect(events[0]!.message).toContain('Throttler "short" can\'t decide by it.');
  });

  test('without a limit let requests through as in its own storage, and deny them with the policy `closed`', async () => {
    const numbers: Numbers = [1000, Number.NaN];
    expect(await passed(still({ log: false }).storage, numbers)).toBe(await passedInItsOwn(numbers));
    const { storage } = still({ failure: { onFailure: 'closed' }, log: false });
    await expect(storage.increment('ann', 1000, Number.NaN, 1000, 'default')).rejects.toMatchObject({ status: 503 });
  });

  test('without a block that is a number have none beyond the wait for a token', async () => {
    const { storage } = still({ log: false });
    expect(await passed(storage, [1000, 5, Number.NaN])).toBe('xxxxx--');
  });

  test('in a list that the storage gets too are checked when the application starts', () => {
    const started = (...throttlers: object[]) => rateLimitStorage({ throttlers, log: false });
    expect(() => started({ ttl: 60_000, limit: 10 }, { ttl: 60_000, limit: Number.NaN })).toThrow(
      /^`throttlers\[1\]\.limit` must be a number, but was NaN\./,
    );
    expect(() => started({ ttl: undefined, limit: 10 })).toThrow(/`throttlers\[0\]\.ttl` must be a number/);
    expect(() => started({ ttl: 1, limit: 1, blockDuration: 'long' })).toThrow(/`throttlers\[0\]\.blockDuration`/);
    expect(() => rateLimitStorage({ throttlers: {} as never })).toThrow(/`throttlers` must be a list/);
    expect(() => rateLimitStorage({ throttlers: [3] as never })).toThrow(/`throttlers\[0\]` must be an object/);
    const functions = { ttl: () => 1000, limit: async () => 3, blockDuration: () => 5 };
    expect(started({ ttl: '60000', limit: Infinity }, functions)).toBeDefined();
    expect(rateLimitStorage({ throttlers: undefined })).toBeDefined();
  });

  test.each(PLATFORMS)('may be functions of the request on %s', async (_name, adapter) => {
    const limit = (context: ExecutionContext) =>
      context.switchToHttp().getRequest<{ headers: Record<string, string> }>().headers['plan'] === 'free'
        ? 1
        : Infinity;
    const ask = await served(throttled(still().storage, [{ ttl: () => 500, limit }]), adapter);
    expect(await statuses(3, () => ask('/', { headers: { plan: 'free' } }))).toEqual([200, 429, 429]);
    expect(await statuses(5, () => ask('/', { headers: { plan: 'paid' } }))).toEqual([200, 200, 200, 200, 200]);
  });
});

/** A store that can't answer. */
function failing(): Store {
  return { guard: storeGuard, run: () => Promise.reject(new Error('down')), close: () => Promise.resolve() };
}

describe('when the store can not answer', () => {
  const asked = async (onFailure: 'local' | 'open' | 'closed', times: number) => {
    const events: LimiterEvent[] = [];
    const failure = { onFailure, ...(onFailure === 'local' && { gateways: 1 }) };
    const { storage } = still({ store: failing(), failure, onEvent: (event) => void events.push(event) });
    const records = [];
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    for (let i = 0; i < times; i++) records.push(await storage.increment('ann', 10_000, 1, 10_000, 'default'));
    return records.map(({ totalHits, isBlocked }) => [totalHits, isBlocked]);
  };

  test('the policy local counts in this process', async () => {
    expect(await asked('local', 2)).toEqual([
      [1, false],
      [2, true],
    ]);
  });

  test('under the policy open every request passes, with totalHits 0', async () => {
    expect(await asked('open', 2)).toEqual([
      [0, false],
      [0, false],
    ]);
  });

  test('the policy closed answers 503', async () => {
    const { storage } = still({ store: failing(), failure: { onFailure: 'closed' } });
    const ask = await served(throttled(storage));
    expect((await ask()).status).toBe(503);
  });
});

test('a storage takes a store, or nothing', async () => {
  const time = new FakeTime();
  for (const storage of [rateLimitStorage(memoryStore({ time })), rateLimitStorage()] satisfies ThrottlerStorage[]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect(await storage.increment('ann', 10_000, 5, 0, 'default')).toMatchObject({ totalHits: 1 });
  }
});

test('a second storage on one store shares the buckets of the first, also after its application has shut down', async () => {
  const store = memoryStore();
  const [first, second] = [0, 1].map(() => rateLimitStorage({ store, log: false }));
  const hits = async (storage = second) => (await storage!.increment('ann', 10_000, 5, 0, 'default')).totalHits;
  const app = await appOf(throttled(first!));
  expect(await hits(first)).toBe(1);
  expect(await hits()).toBe(2);
  await app.close();
  expect(await hits()).toBe(3);
  await second!.onApplicationShutdown();
});
