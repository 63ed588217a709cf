import { accountId, createLimiter } from '@sluice/core';
import { StalePeriodError } from '@sluice/core/store';
import { callsOf, FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { postgresServer } from '../../../test/postgres/postgres-server.ts';
import { spend, storeOn, takenOf, token, TOKEN } from './support.ts';

const server = await postgresServer();

/** A store whose table has a name that the test knows. */
function named() {
  const table = server.newTable();
  return { table, store: storeOn(server, { table }) };
}

test('ids with quotes, braces, backslashes, NUL and 64 kB have buckets of their own', async () => {
  const { store, table } = named();
  const ids = [
    "'; drop table x; --",
    '{a,"b"}',
    'a\\',
    'a\\\\',
    'NULL',
    '',
    '\0',
    'é€😀',
    'x'.repeat(65_536),
    '%',
    '"',
  ];
  await Promise.all(ids.map((id) => spend(store, [token(id)])));
  await spend(
    store,
    ids.map((id) => token(id)),
  );
  expect(await Promise.all(ids.map((id) => takenOf(store, id)))).toEqual(ids.map(() => 2));
  expect(await server.query(`select count(*)::int from ${table}`)).toEqual([{ count: ids.length }]);
});

test('an id that is not valid text is an error of the client, and those beside it are decided', async () => {
  const { store } = named();
  const wrong = spend(store, [token('\ud800')]);
  const beside = spend(store, [token('x')]);
  await expect(wrong).rejects.toMatchObject({ code: 'ERR_ID', status: 400, kind: 'input' });
  await expect(beside).resolves.toMatchObject({ levelsTicks: [0] });
  // It did not count as a call that is awaited.
  await store.close();
});

test('calls of a turn are executed in their order, by as few statements as have room', async () => {
  const { store } = named();
  await store.ready();
  const before = store.status().counts.calls;
  const levels = await Promise.all(
    Array.from({ length: 200 }, () =>
      spend(store, [token('x', { capTicks: 2 ** 52, fitTicks: 2 ** 52, incrementTicks: 16 })]),
    ),
  );
  const tats = levels.map(({ nowTicks, levelsTicks: [level] }) => nowTicks + level!);
  expect(tats).toEqual(tats.toSorted((a, b) => a - b));
  // Each of them found what those before had taken.
  expect(new Set(tats).size).toBe(200);
  expect(store.status().counts.calls - before).toBe(Math.ceil(200 / 64));
});

test('a call of more buckets than a statement usually has is not split', async () => {
  const { store } = named();
  const batch = Array.from({ length: 500 }, (_, i) => token(`${i}`));
  const { levelsTicks } = await spend(store, batch);
  expect(levelsTicks).toEqual(batch.map(() => 0));
  await callsOf(store).reset(batch, 20_000);
  expect((await spend(store, batch)).levelsTicks).toEqual(batch.map(() => 0));
});

test('denied batches and checks write nothing', async () => {
  const { store, table } = named();
  await spend(store, [token('x', { incrementTicks: 10 * TOKEN })]);
  const rows = () => server.query(`select key, tat::text, xmin::text, xmax::text from ${table}`);
  // The first one locks, because the call before it has changed something.
  await spend(store, [token('x'), token('y')]);
  const before = await rows();
  expect(before).toHaveLength(1);
  await spend(store, [token('x'), token('y')]);
  await callsOf(store).check([token('y')], 20_000);
  expect(await rows()).toEqual(before);
  // The next one that takes does so.
  await spend(store, [token('y')]);
  expect(await rows()).toHaveLength(2);
});

describe('a row that is not a bucket', () => {
  test.each([
    ['a TAT that is too large', `tat = 9007199254740993`],
    ['a negative level', `level = -1, tat = tat + 1000000`],
  ])('because of %s is an error of its batch alone, until it is reset', async (_name, change) => {
    const { store, table } = named();
    await spend(store, [token('bad'), token('good')]);
    await server.query(`update ${table} set ${change} where key = 'Tokens:bad'`);
    const bad = spend(store, [token('other'), token('bad')]);
    const good = spend(store, [token('good')]);
    await expect(bad).rejects.toMatchObject({
      code: 'ERR_STORE_BUCKET',
      message: expect.stringContaining("'Tokens:bad'") as string,
    });
    await good;
    expect(await Promise.all([takenOf(store, 'good'), takenOf(store, 'other')])).toEqual([2, 0]);
    await callsOf(store).reset([token('bad')], 20_000);
    expect(await takenOf(store, 'bad')).toBe(0);
  });
});

test('an error of one call in a statement does not fail the others', async () => {
  const { store, table } = named();
  await store.ready();
  await server.query(`alter table ${table} add check (key <> 'Tokens:forbidden')`);
  const calls = [token('x'), token('forbidden'), token('y')].map((each) => spend(store, [each]));
  const outcomes = await Promise.allSettled(calls);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  await expect(calls[1]).rejects.toMatchObject({ code: 'ERR_STORE_BUCKET' });
});

test('numbers that are none fail no other call', async () => {
  const { store } = named();
  const period = [NaN, NaN, NaN] as const;
  const wrong = spend(store, [token('x', { period, calendar: 'day' })]);
  const infinite = spend(store, [token('z', { fitTicks: Infinity, capTicks: Infinity })]);
  const beside = spend(store, [token('y')]);
  await expect(wrong).rejects.toBeInstanceOf(StalePeriodError);
  await expect(infinite).resolves.toMatchObject({ levelsTicks: [0] });
  await expect(beside).resolves.toMatchObject({ levelsTicks: [0] });
});

test('a wrong deadline is an error', async () => {
  const { store } = named();
  await expect(spend(store, [token('x')], 0)).rejects.toMatchObject({ code: 'ERR_OPTION' });
});

test('calls that were made before close are executed, and later ones are errors', async () => {
  const { store, table } = named();
  await store.ready();
  const calls = Array.from({ length: 5 }, () => spend(store, [token('x')]));
  await store.close();
  await Promise.all(calls);
  await expect(spend(store, [token('x')])).rejects.toMatchObject({ code: 'ERR_CLOSED' });
  await expect(store.migrate()).rejects.toMatchObject({ code: 'ERR_CLOSED' });
  expect(store.status().state).toBe('closed');
  expect(await takenOf(storeOn(server, { table }), 'x')).toBe(5);
});

test('limiters of two stores share a limit', async () => {
  const { table, store } = named();
  const limits = { Shared: { key: accountId(), burst: 3, count: 1, period: '1d' } } as const;
  const other = storeOn(server, { table });
  const failure = { deadlineMs: 20_000 };
  const [first, second] = [store, other].map((each) => createLimiter({ limits, store: each, failure, log: false }));
  const entry = [{ limit: 'Shared', id: '7' }] as const;
  expect((await first!.spend(entry)).remaining).toBe(2);
  expect((await second!.spend(entry)).remaining).toBe(1);
  expect((await first!.spend(entry)).remaining).toBe(0);
  expect((await second!.spend(entry)).allowed).toBe(false);
});

test('a bucket that a refund has filled, and slots that have expired, leave no rows', async () => {
  const { store, table } = named();
  await spend(store, [token('x')]);
  await callsOf(store).refund([token('x')], 20_000);
  expect(await server.query(`select key from ${table}`)).toEqual([]);
  const slot = (holder: string) =>
    token('s', { slots: true, holding: { holder, expiryMs: 60_000 }, incrementTicks: 1, fitTicks: 9, capTicks: 9 });
  await spend(store, [slot('a')]);
  await server.query(`update ${table}_slots set ends = 0`);
  await spend(store, [slot('b')]);
  expect(await server.query(`select holder from ${table}_slots`)).toEqual([{ holder: 'b' }]);
});

describe('the sweep', () => {
  const swept = async (store: ReturnType<typeof storeOn>, time: FakeTime, count: number): Promise<void> => {
    await expect
      .poll(async () => {
        time.advance(1000);
        await callsOf(store).check([token('x')], 20_000);
        return store.status().counts.swept;
      })
      .toBe(count);
  };

  test('deletes what has been full for half a minute, and its slots, and nothing else', async () => {
    const time = new FakeTime();
    const table = server.newTable();
    const store = storeOn(server, { table, time });
    const holding = { holder: 'a', expiryMs: 60_000 };
    const slot = token('slots', { slots: true, holding, incrementTicks: 1, fitTicks: 9, capTicks: 9 });
    await spend(store, ['old', 'young', 'live'].map((id) => token(id)).concat(slot));
    const kept = 30 * 16_000_000;
    const shift = (ticks: string, id: string) =>
      server.query(
        `update ${table} set tat = (extract(epoch from now()) - 1767225600)::bigint * 16000000 - ${ticks} where key = '${id}'`,
      );
    await shift(`${kept + 80_000_000}`, 'Tokens:old');
    await shift(`${kept + 80_000_000}`, 'Tokens:slots@slots');
    await shift(`${kept - 80_000_000}`, 'Tokens:young');
    await swept(store, time, 2);
    expect(await server.query(`select key from ${table} order by key`)).toEqual([
      { key: 'Tokens:live' },
      { key: 'Tokens:young' },
    ]);
    expect(await server.query(`select * from ${table}_slots`)).toEqual([]);
  });

  test('keeps the slots of a bucket until the last of them expires, whatever was taken after it', async () => {
    const time = new FakeTime();
    const table = server.newTable();
    const store = storeOn(server, { table, time });
    const slot = (holder: string, expiryMs: number) =>
      token('slots', { slots: true, holding: { holder, expiryMs }, incrementTicks: 1, fitTicks: 9, capTicks: 9 });
    await spend(store, [token('old')]);
    await spend(store, [slot('long', 3_600_000)]);
    await spend(store, [slot('short', 1000)]);
    // As if 40 seconds had passed for the slots, and much more for the bucket.
    const passed = 40 * 16_000_000;
    await server.query(
      `update ${table} set tat = tat - case key when 'Tokens:old' then ${2 * TOKEN} else ${passed} end`,
    );
    await server.query(`update ${table}_slots set ends = ends - ${passed}`);
    await swept(store, time, 1);
    const look = slot('looks', 1000);
    expect(await callsOf(store).check([look], 20_000)).toMatchObject({ levelsTicks: [1] });
  });

  test('goes through a table of many pages, and does not wait for a row that is locked', async () => {
    const time = new FakeTime();
    const table = server.newTable();
    const store = storeOn(server, { table, time });
    await store.ready();
    await server.query(`insert into ${table} select 'Old:' || i, 0, 1 from generate_series(1, 20000) as i`);
    const client = await server.pool.connect();
    await client.query('begin');
    await client.query(`select * from ${table} where key = 'Old:7' for update`);
    await swept(store, time, 19_999);
    await client.query('rollback');
    client.release();
    await swept(store, time, 20_000);
    expect(await server.query(`select key from ${table}`)).toEqual([]);
  });
});
