import { cachedOverrides, type LimitNumbers } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { settled } from '../../support/promises.ts';
import { limiterOnFakeTime } from '../../support/limiter-on-fake-time.ts';
import { query } from './query.ts';
import { rejected, thrown } from '../../support/thrown.ts';
import { answers, cached, pro, team } from './cached.ts';

describe('cached overrides', () => {
  test('ask once for seven requests of one id at the same time', async () => {
    const { get, asked } = cached();
    expect(await Promise.all(Array.from({ length: 7 }, () => get()))).toEqual([pro, pro, pro, pro, pro, pro, pro]);
    expect(asked).toEqual(['Orders 7']);
  });

  test('ask for each id and for each limit of an id', async () => {
    const { get, asked } = cached();
    await Promise.all([get('7'), get('8'), get('7', 'Reads'), get('8')]);
    expect(asked).toEqual(['Orders 7', 'Orders 8', 'Reads 7']);
  });

  test('give an answer that is younger than maxAge at once, without asking', async () => {
    const { get, time, asked } = cached();
    await get();
    time.advance(59_999.999);
    expect(get()).toBe(pro);
    expect(asked).toHaveLength(1);
  });

  test('also cache that there is no override', async () => {
    const { get, asked } = cached({ answer: async () => undefined });
    await get();
    expect(get()).toBeUndefined();
    expect(asked).toHaveLength(1);
  });

  test.each(['unlimited', 'blocked'] as const)("keep '%s', too", async (override) => {
    const { get } = cached({ answer: async () => override });
    await get();
    expect(get()).toBe(override);
  });

  test('give an older answer at once, while one query brings the next', async () => {
    const { queries, answer } = answers();
    const { get, time, asked } = cached({ answer });
    const first = get();
    queries.at(0)!.resolve(pro);
    await first;
    time.advance(60_000);
    expect([get(), get(), get()]).toEqual([pro, pro, pro]);
    expect(asked).toHaveLength(2);
    queries.at(1)!.resolve(team);
    await settled();
    expect(get()).toBe(team);
    expect(asked).toHaveLength(2);
  });

  test('take a new answer that is there at once', async () => {
    let plan = pro;
    const { get, time } = cached({ answer: () => plan });
    expect(get()).toBe(pro);
    plan = team;
    expect(get()).toBe(pro);
    time.advance(60_000);
    expect(get()).toBe(team);
  });

  test('accept a query that is a thenable', async () => {
    const { get } = cached({ answer: () => query((give) => give(pro)) });
    expect(await get()).toBe(pro);
    expect(get()).toBe(pro);
  });

  test('are the overrides of a limiter, which answers at once when they know', async () => {
    const { overrides } = cached();
    const { limiter } = limiterOnFakeTime({ Orders: { count: 2, period: '1s' } }, { overrides });
    const entry = [{ limit: 'Orders', id: '7' }];
    expect(await limiter.spend(entry)).toMatchObject({ remaining: 99 });
    expect(await limiter.spend(entry)).toMatchObject({ remaining: 98 });
  });
});

describe('cached overrides delete', () => {
  test('what is deleted: an id under all limits, or under one', async () => {
    const { overrides, get, asked } = cached({ answer: () => pro });
    const all = () => [get('7'), get('7', 'Reads'), get('8')];
    all();
    overrides.delete('7');
    all();
    expect(asked.slice(3)).toEqual(['Orders 7', 'Reads 7']);
    overrides.delete('7', 'Reads');
    overrides.delete('nobody');
    all();
    expect(asked.slice(5)).toEqual(['Reads 7']);
  });

  test('all when they are cleared', () => {
    const { overrides, get, asked } = cached({ answer: (_, id) => (id === '7' ? pro : undefined) });
    get('7');
    get('8');
    overrides.clear();
    get('7');
    get('8');
    expect(asked).toHaveLength(4);
  });

  test('what a query brings that began before the deletion: it may not know the change', async () => {
    const { queries, answer } = answers();
    const { overrides, get } = cached({ answer });
    const before = get();
    overrides.delete('7');
    const after = get();
    queries.at(0)!.resolve(pro);
    queries.at(1)!.resolve(team);
    expect(await Promise.all([before, after])).toEqual([pro, team]);
    expect(get()).toBe(team);
  });
});

describe('the entries of cached overrides are bounded', () => {
  test('by maxEntries: what was used longest ago goes first', () => {
    const { get, asked } = cached({ maxEntries: 3, answer: () => pro });
    for (const id of ['1', '2', '3', '1', '4']) get(id);
    asked.length = 0;
    for (const id of ['1', '3', '4', '2']) get(id);
    expect(asked).toEqual(['Orders 2']);
  });

  test('a flood of ids without an override does not displace those with one, up to half of the entries', () => {
    const { get, asked } = cached({ maxEntries: 100, answer: (_, id) => (id.startsWith('pro') ? pro : undefined) });
    const customers = Array.from({ length: 50 }, (_, i) => `pro${i}`);
    for (const id of customers) get(id);
    for (let i = 0; i < 1000; i++) get(`flood${i}`);
    asked.length = 0;
    for (const id of customers) expect(get(id)).toBe(pro);
    expect(asked).toEqual([]);
  });

  test('an id that loses its override counts as one without', () => {
    let plan: LimitNumbers | undefined = pro;
    const { get, time, asked } = cached({ maxEntries: 2, answer: () => plan });
    get('1');
    plan = undefined;
    time.advance(60_000);
    expect(get('1')).toBeUndefined();
    get('2');
    get('3');
    asked.length = 0;
    get('1');
    expect(asked).toEqual(['Orders 1']);
  });

  test('one entry works', () => {
    const { get, asked } = cached({ maxEntries: 1, answer: (_, id) => (id === '1' ? pro : undefined) });
    for (const id of ['1', '1', '2', '2', '1']) get(id);
    expect(asked).toEqual(['Orders 1', 'Orders 2', 'Orders 1']);
  });

  test('an answer for an id that was evicted during its query is returned, but not cached', async () => {
    const { queries, answer } = answers();
    const { get, asked } = cached({ maxEntries: 1, answer });
    const [first, second] = [get('1'), get('2')];
    queries.at(0)!.resolve(pro);
    queries.at(1)!.resolve(team);
    expect(await Promise.all([first, second])).toEqual([pro, team]);
    expect(get('2')).toBe(team);
    void get('1');
    expect(asked).toEqual(['Orders 1', 'Orders 2', 'Orders 1']);
  });
});

describe('wrong options of cached overrides are errors:', () => {
  const make = (options: unknown, ask: unknown = () => pro) =>
    thrown(() => cachedOverrides(ask as never, options as never));

  test.each<[unknown, string, RegExp]>([
    [{}, 'ERR_DURATION', /^`maxAge` must be a duration .*, but was undefined\./],
    [{ maxAge: 60 }, 'ERR_DURATION', /'60s' for seconds/],
    [{ maxAge: '0s' }, 'ERR_DURATION', /^`maxAge`/],
    [
      { maxAge: '1m', maxEntries: 0 },
      'ERR_OPTION',
      /^`maxEntries` must be a whole number from 1 to 10000000, but was 0/,
    ],
    [{ maxAge: '1m', max: 5 }, 'ERR_UNKNOWN_OPTION', /`cachedOverrides` has no option `max`/],
    [{ maxAge: '1m', time: Date }, 'ERR_OPTION', /^`time` must be an object with the methods nowMicros, wallNow/],
    [{ maxAge: '1m', log: 'no' }, 'ERR_OPTION', /^`log`/],
  ])('%o', (options, code, message) => {
    expect(make(options)).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  test('and so is a value that is not a function', () => {
    expect(make({ maxAge: '1m' }, pro)).toMatchObject({
      code: 'ERR_OPTION',
      message: expect.stringMatching(/^`cachedOverrides\(fn\)` must be a function, but was \{/),
    });
  });
});

test('a limiter does not wait longer for cached overrides than for others', async () => {
  const { overrides } = cached({ answer: () => new Promise(() => {}) });
  const { limiter, time, events } = limiterOnFakeTime({ Orders: { count: 2, period: '1s' } }, { overrides });
  const decision = limiter.spend([{ limit: 'Orders', id: '7' }]);
  time.advance(50);
  expect((await decision).remaining).toBe(1);
  expect(events).toMatchObject([{ type: 'override-failed' }]);
  void limiter.close();
  expect(await rejected(async () => limiter.spend([{ limit: 'Orders', id: '7' }]))).toMatchObject({
    code: 'ERR_CLOSED',
  });
});
