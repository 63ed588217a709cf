import { describe, expect, test } from 'vitest';
import { settled } from '../../support/promises.ts';
import { limiterOnFakeTime } from '../../support/limiter-on-fake-time.ts';
import { answers, cached, pro, team } from './cached.ts';

describe('when the database fails, cached overrides', () => {
  const failures: [what: string, answer: () => unknown, reason: string][] = [
    [
      'it throws',
      () => {
        throw new Error('no database');
      },
      'Error: no database',
    ],
    ['it rejects', () => Promise.reject(new Error('no database')), 'Error: no database'],
    [
      'it gives nonsense',
      () => Promise.resolve('gold'),
      "`overrides(Orders)` must be numbers such as { count: 600, period: '180m' } or { concurrency: 20 }, 'unlimited' or 'blocked', but was 'gold'",
    ],
    [
      'it gives nonsense at once',
      () => 'gold',
      "`overrides(Orders)` must be numbers such as { count: 600, period: '180m' } or { concurrency: 20 }, 'unlimited' or 'blocked', but was 'gold'",
    ],
  ];

  test.each(failures)(
    'keep a known answer, repeat the query after a second, and report it: %s',
    async (_, fail, reason) => {
      let broken = false;
      const { get, time, asked, events } = cached({ answer: () => (broken ? fail() : pro) });
      expect(get()).toBe(pro);
      broken = true;
      time.advance(61_000);
      expect(get()).toBe(pro);
      await settled();
      expect(get()).toBe(pro);
      expect(asked).toHaveLength(2);
      expect(events).toMatchObject([
        {
          type: 'override-refresh-failed',
          limit: 'Orders',
          id: '7',
          cause: expect.anything(),
          message: `A cached override of limit "Orders" could not be refreshed (${reason}). The cached one, 61 s old, stays in use. Check the overrides function and its database.`,
        },
      ]);
      time.advance(1000);
      expect(get()).toBe(pro);
      await settled();
      expect([asked.length, events.length]).toEqual([3, 2]);
      broken = false;
      time.advance(1000);
      get();
      expect([get(), asked.length, events.length]).toEqual([pro, 4, 2]);
    },
  );

  test.each(failures)('fail for an id that they do not know, and ask again after a second: %s', async (_, fail) => {
    let broken = true;
    const { get, time, asked, events } = cached({ answer: () => (broken ? fail() : pro) });
    const ask = async () => get();
    await expect(ask()).rejects.toThrow(/no database|gold/);
    await expect(ask()).rejects.toThrow(/no database|gold/);
    expect([asked.length, events.length]).toEqual([1, 0]);
    broken = false;
    time.advance(999.999);
    await expect(ask()).rejects.toThrow(/no database|gold/);
    time.advance(0.001);
    expect(await ask()).toBe(pro);
    expect(asked).toHaveLength(2);
  });

  test('ask again after maxAge, when that is shorter than a second', async () => {
    const { get, time, asked } = cached({ maxAge: '100ms', answer: () => Promise.reject(new Error('no')) });
    await expect(get()).rejects.toThrow('no');
    time.advance(100);
    await expect(get()).rejects.toThrow('no');
    expect(asked).toHaveLength(2);
  });

  test('leave no rejection of a refresh unhandled', async () => {
    const { queries, answer } = answers();
    const { get, time } = cached({ answer });
    const first = get();
    queries.at(0)!.resolve(pro);
    await first;
    time.advance(60_000);
    get();
    queries.at(1)!.reject(new Error('gone'));
    await settled();
    expect(get()).toBe(pro);
  });

  test('let the limiter’s own numbers apply to an unknown id alone, with its event', async () => {
    let broken = false;
    const { overrides, time } = cached({ answer: () => (broken ? Promise.reject(new Error('no database')) : pro) });
    const { limiter, events } = limiterOnFakeTime({ Orders: { count: 2, period: '1s' } }, { overrides });
    const burstOf = async (id: string) => (await limiter.check([{ limit: 'Orders', id }])).results[0]?.burst;
    expect(await burstOf('7')).toBe(100);
    broken = true;
    time.advance(3_600_000);
    expect([await burstOf('7'), await burstOf('8')]).toEqual([100, 2]);
    expect(events).toMatchObject([{ type: 'override-failed', id: '8' }]);
  });
});

describe('when a query hangs, cached overrides', () => {
  test('return the known answer, start another query after ten seconds, and report it', async () => {
    const { queries, answer } = answers();
    const { get, time, asked, events } = cached({ answer });
    const first = get();
    queries.at(0)!.resolve(pro);
    await first;
    time.advance(60_000);
    expect(get()).toBe(pro);
    time.advance(9999.999);
    expect(get()).toBe(pro);
    expect([asked.length, events.length]).toEqual([2, 0]);
    time.advance(0.001);
    expect(get()).toBe(pro);
    expect([asked.length, events.length]).toEqual([3, 1]);
    expect(events).toMatchObject([{ message: expect.stringContaining('the query did not answer within 10 s') }]);
  });

  test('take a late answer, but not after that of a later query', async () => {
    const { queries, answer } = answers();
    const { get, time } = cached({ answer });
    const [first] = [get()];
    time.advance(10_000);
    const second = get();
    queries.at(1)!.resolve(team);
    expect(await second).toBe(team);
    queries.at(0)!.resolve(pro);
    expect(await first).toBe(pro);
    expect(get()).toBe(team);
    time.advance(60_000);
    get();
    time.advance(10_000);
    get();
    queries.at(2)!.resolve(pro);
    await settled();
    expect(get()).toBe(pro);
  });

  test('do not mind that an earlier query fails late', async () => {
    const { queries, answer } = answers();
    const { get, time, asked } = cached({ answer });
    const first = get() as Promise<unknown>;
    time.advance(10_000);
    const second = get();
    queries.at(0)!.reject(new Error('late'));
    await expect(first).rejects.toThrow('late');
    const third = get();
    queries.at(1)!.resolve(pro);
    expect(await Promise.all([second, third])).toEqual([pro, pro]);
    expect(asked).toHaveLength(2);
  });
});
