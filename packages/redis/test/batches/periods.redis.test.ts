import { nowTicksAt, type CalendarPeriod, type StoreTransaction } from '@sluice/core/store';
import { Cluster } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { sharedCluster } from '../../../../test/redis/servers/shared-cluster.ts';
import { until } from '../../../../test/redis/servers/until.ts';
import { charge, hour, hourly, isAllowed, order, owed, TOKEN_TICKS } from '../support/orders.ts';
import { readyStore } from '../support/ready-store.ts';
import { added, emptyCall } from '../support/script-call.ts';
import { callsOf } from '@sluice/core/testing';

const EPOCH_MS = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;
const HOUR_TICKS = HOUR_MS * 16_000;
const server = await redisServer();
const store = await readyStore({ url: server.url, prefix: 'p:', rememberDenialsMs: 0 });
const key = (id: string): string => `p:Hourly:${id}`;

function endTicks([, endMs]: CalendarPeriod): number {
  return (endMs - EPOCH_MS) * 16_000;
}

/** Writes a bucket with two tokens taken, as the script does while the server's clock is some hours ahead. */
async function writeAhead(id: string, hours: number): Promise<void> {
  await callsOf(store).spend([hourly(id, 2)]);
  const digits = await server.call<string>('GET', key(id));
  const tat = BigInt(digits.slice(0, -3)) + BigInt(hours * HOUR_TICKS);
  await server.call('SET', key(id), `${tat}${digits.slice(-3)}`);
}

/** The arguments of the script for batches in one call. */
function argsOf(...batches: readonly (readonly StoreTransaction[])[]): readonly unknown[] {
  const call = emptyCall();
  for (const batch of batches) void added(call, { kind: 'spend', batch, keys: batch.map(({ id }) => id) });
  return call.args;
}

describe('a bucket with a calendar period in Redis', () => {
  test('is the end of its period and the tokens taken, and lives half a minute longer than that', async () => {
    const period = hour();
    const reading = await callsOf(store).spend([hourly('kept', 3, period)]);
    const end = endTicks(period);
    expect(reading.bucketNowTicks).toEqual([end]);
    // 3 is 2^1 × (1 + 8 / 16).
    expect(await server.call('GET', key('kept'))).toBe(`${end + 3}024`);
    const leftMs = await server.call<number>('PTTL', key('kept'));
    expect(Math.abs(leftMs - (period[1] + 30_000 - Date.now()))).toBeLessThan(1000);
  });

  test('is not written where nothing changes, and deleted when all is given back', async () => {
    const period = hour();
    await callsOf(store).spend([hourly('id', 5, period)]);
    const digits = await server.call('GET', key('id'));
    const calls = async () => (await server.commandCalls()).get('set');
    const before = await calls();
    await callsOf(store).spend([hourly('id', 1, period)]);
    await callsOf(store).check([hourly('id', 1, period)]);
    expect([await calls(), await server.call('GET', key('id'))]).toEqual([before, digits]);
    await callsOf(store).refund([hourly('id', 5, period)]);
    expect(await server.call('EXISTS', key('id'))).toBe(0);
  });

  test('rejects only its own batch of a call when its periods are stale', async () => {
    const asked = [
      callsOf(store).spend([order('beside')]),
      callsOf(store).spend([order('stale'), hourly('stale', 1, hour(1))]),
      callsOf(store).spend([hourly('beside')]),
    ];
    const [first, stale, last] = await Promise.allSettled(asked);
    expect([first?.status, last?.status]).toEqual(['fulfilled', 'fulfilled']);
    expect(stale).toMatchObject({ status: 'rejected', reason: { code: 'ERR_STORE_PERIOD', kind: 'store' } });
    const { message, wallMs } = (stale as PromiseRejectedResult).reason as { message: string; wallMs: number };
    expect(Math.abs(wallMs - Date.now())).toBeLessThan(60_000);
    expect(message).toMatch(
      /^The store's clock shows 20\d\d-.*Z, but the call was for the periods from 20\d\d-.*Z to /,
    );
    expect(owed(await callsOf(store).check([order('beside'), order('stale')]))).toEqual([1, 0]);
  });

  test('of the next period is left as it is, and nothing fits', async () => {
    const period = hour();
    await writeAhead('next', 1);
    const digits = await server.call('GET', key('next'));
    const reading = await callsOf(store).spend([hourly('next', 1, period)]);
    expect(reading.levelsTicks).toEqual([HOUR_TICKS + 2]);
    await callsOf(store).refund([hourly('next', 1, period)]);
    await callsOf(store).charge([hourly('next', 1, period)]);
    expect(await server.call('GET', key('next'))).toBe(digits);
  });

  test('of a later period is mended to the tokens taken, by one write', async () => {
    const period = hour();
    await writeAhead('later', 2);
    expect((await callsOf(store).check([hourly('later', 1, period)])).levelsTicks).toEqual([2]);
    expect(await server.call('GET', key('later'))).toBe(`${endTicks(period) + 2}016`);
  });

  test('that is over is full, though its key is still there', async () => {
    await callsOf(store).spend([hourly('over', 5)]);
    await server.call('SET', key('over'), `${(Date.now() - EPOCH_MS - 31_000) * 16_000}020`);
    expect((await callsOf(store).check([hourly('over')])).levelsTicks).toEqual([0]);
  });
});

describe('the arguments of the script', () => {
  test('are the same for batches without a period as if there were none', () => {
    const numbers = [5 * TOKEN_TICKS, TOKEN_TICKS];
    expect(argsOf([order('a')], [order('b')])).toEqual([2 * 2 ** 20 + 1, 0, ...numbers]);
  });

  test('contain one copy of a period for all batches of the call', () => {
    const period = hour();
    const many = Array.from({ length: 16 }, (_, id) => [order(`${id}`), hourly(`${id}`, 1, period)]);
    expect(argsOf(...many)).toHaveLength(1 + 2 + 2 + 7);
  });
});

describe('remembered denials', () => {
  test('repeat the denial of a quota without a call, with the end of the period', async () => {
    const remembering = await readyStore({ url: server.url });
    const period = hour();
    await callsOf(remembering).spend([hourly('id', 5, period)]);
    const denied = await callsOf(remembering).spend([hourly('id', 1, period), order('id')]);
    const remembered = await callsOf(remembering).spend([hourly('id', 1, period), order('id')]);
    expect(remembered).toMatchObject({ remembered: true, levelsTicks: [5, 0] });
    expect(nowTicksAt(remembered, 0)).toBe(nowTicksAt(denied, 0));
    expect(remembered.bucketWallMs?.[0]).toBeGreaterThanOrEqual(denied.bucketWallMs?.[0] ?? NaN);
    expect(remembered.bucketWallMs?.[1]).toBeUndefined();
    await remembering.close();
  });
});

describe('in a cluster', async () => {
  const cluster = await sharedCluster();
  const client = new Cluster([...cluster.addresses], { lazyConnect: true });
  const spread = await readyStore({ client, rememberDenialsMs: 0 });

  test('a batch over several slots counts in periods, and gives back in them', async () => {
    const period = hour();
    const ids = ['a', 'b', 'c', 'd'];
    await callsOf(spread).spend([hourly('a', 5, period)]);
    const batch = ids.map((id) => hourly(id, 2, period));
    expect(isAllowed(batch, await callsOf(spread).spend(batch))).toBe(false);
    await until('the tokens are given back', async () => {
      const { levelsTicks } = await callsOf(spread).check(batch);
      return levelsTicks.join() === '5,0,0,0';
    });
    const rest = [...batch.slice(1), order('a')];
    const { bucketNowTicks, bucketWallMs } = await callsOf(spread).spend(rest);
    expect(bucketNowTicks?.slice(0, 3)).toEqual(Array(3).fill(endTicks(period)));
    expect(bucketWallMs?.map((wallMs) => typeof wallMs)).toEqual(['number', 'number', 'number', 'undefined']);
    expect((await callsOf(spread).check(batch)).levelsTicks).toEqual([5, 2, 2, 2]);
  });

  test('a stale period in one slot changes nothing in the others', async () => {
    const ids = ['e', 'f', 'g', 'h'];
    const stale = { ...hourly('stale', 1, hour(2)) };
    const batch = [...ids.map((id) => order(id)), stale];
    await expect(callsOf(spread).spend(batch)).rejects.toMatchObject({ code: 'ERR_STORE_PERIOD' });
    await expect(callsOf(spread).charge([...ids.map((id) => charge(id)), stale])).rejects.toMatchObject({
      code: 'ERR_STORE_PERIOD',
    });
    await until('the tokens are given back', async () => {
      const levels = owed(await callsOf(spread).check(ids.map((id) => order(id))));
      return levels.join() === '0,0,0,0';
    });
  });
});
