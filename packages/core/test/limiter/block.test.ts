import {
  accountId,
  createLimiter,
  everyone,
  ipv6RangeCIDR,
  memoryStore,
  type BlockEntry,
  type Limiter,
  type Store,
} from '@sluice/core';
import { borrow } from '@sluice/core/borrow';
import { concurrency } from '@sluice/core/concurrency';
import { load } from '@sluice/core/load';
import { counts } from '@sluice/core/metrics';
import { quota } from '@sluice/core/quota';
import { FakeTime } from '@sluice/core/testing';
import { channel } from 'node:diagnostics_channel';
import { describe, expect, test } from 'vitest';

const key = accountId();
const HOUR_MS = 3_600_000;
const WHY = { forMs: HOUR_MS, reason: 'ticket 4711', by: 'mia' };
const DENIED = { outcome: 'denied', blocked: true, retryAfterMs: Infinity, id: '7' };

function orders(store?: Store) {
  const time = new FakeTime();
  const limits = { Orders: { key, count: 10, period: '1h' }, Others: { key, count: 10, period: '1h' } };
  const overrides = { Orders: { 8: 'unlimited', 9: { count: 20, period: '1h' } } } as const;
  const limiter = createLimiter({ limits, overrides, time, log: false, store: store ?? memoryStore({ time }) });
  return {
    time,
    limiter,
    block: (id: string, entry: Partial<BlockEntry> = {}) =>
      limiter.block([{ limit: 'Orders', id, ...WHY, ...(entry as object) }]),
    spend: (id: string) => limiter.spendSync([{ limit: 'Orders', id }]),
  };
}

describe('a block', () => {
  test('denies its id at its limit at once, as a blocked override does, and nobody else', async () => {
    const { limiter, block, spend } = orders();
    const handle = limiter.limit('Orders');
    expect(handle.spendSync('7').allowed).toBe(true);
    await block('7');
    expect(spend('7')).toMatchObject(DENIED);
    expect(handle.spendSync('7')).toMatchObject(DENIED);
    expect(
      await limiter.spend({ firstOf: [[{ limit: 'Orders', id: '7' }], [{ limit: 'Others', id: '7' }]] }),
    ).toMatchObject({ allowed: true, limit: 'Others' });
    expect(spend('6').allowed).toBe(true);
  });

  test('ends by itself at its end, and not a millisecond earlier', async () => {
    const { block, spend, time, limiter } = orders();
    await block('7', { forMs: 2000 });
    time.advance(1999);
    expect(spend('7')).toMatchObject(DENIED);
    expect(await limiter.blocked()).toHaveLength(1);
    time.advance(1);
    expect(spend('7').allowed).toBe(true);
    expect(await limiter.blocked()).toEqual([]);
    expect(await limiter.unblock([{ limit: 'Orders', id: '7' }])).toEqual([]);
  });

  test('costs nothing after the end of the last one: 100,000 leave nothing, and no clock is read for them', async () => {
    const { limiter, spend, time } = orders();
    for (let i = 0; i < 1000; i++) {
      const ids = Array.from({ length: 100 }, (_, k) => `id${i}-${k}`);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await limiter.block(ids.map((id) => ({ limit: 'Orders' as const, id, ...WHY, forMs: 1000 })));
      // oxlint-disable-next-line no-await-in-loop
      expect(await limiter.store.blocks!.list(1)).toHaveLength(100);
      time.advance(1000);
    }
    expect(limiter.store.blocks!.isEmpty).toBe(false);
    expect(spend('7').allowed).toBe(true);
    expect(limiter.store.blocks!.isEmpty).toBe(true);
    let looks = 0;
    const wallNow = time.wallNow.bind(time);
    Object.assign(time, { wallNow: () => (looks++, wallNow()) });
    expect(spend('id999-1').allowed).toBe(true);
    expect(looks).toBe(0);
  });

  test('leaves the bucket as it was, for the time after it', async () => {
    const { limiter, block, spend } = orders();
    for (let i = 0; i < 4; i++) spend('7');
    const [made] = await block('7');
    spend('7');
    expect(await limiter.unblock([{ limit: 'Orders', id: '7' }])).toEqual([made]);
    expect(spend('7').remaining).toBe(5);
  });

  test('wins over overrides, which apply again when it has ended', async () => {
    const { limiter, block, spend } = orders();
    await block('8');
    await block('9');
    expect(spend('8').blocked).toBe(true);
    expect(spend('9').blocked).toBe(true);
    await limiter.unblock([
      { limit: 'Orders', id: '8' },
      { limit: 'Orders', id: '9' },
    ]);
    expect(spend('8').results).toEqual([]);
    expect(spend('9').remaining).toBe(19);
  });

  test('lasts over a replacement of the limits, and wins over an overrides function', async () => {
    const { limiter, block, spend } = orders();
    await block('7');
    limiter.replace({ limits: { Orders: { key, count: 5, period: '1h' } }, overrides: () => 'unlimited' });
    expect(spend('7')).toMatchObject(DENIED);
    await limiter.unblock([{ limit: 'Orders', id: '7' }]);
    expect(spend('7').allowed).toBe(true);
  });

  test('is listed with its reason, by limit', async () => {
    const { limiter, block, time } = orders();
    const made = { limit: 'Orders', id: '7', untilMs: time.nowMs + HOUR_MS, reason: 'ticket 4711', by: 'mia' };
    expect(await block('7')).toEqual([made]);
    expect(await limiter.blocked()).toEqual([made]);
    expect(await limiter.blocked('Orders')).toEqual([made]);
    expect(await limiter.blocked('Others')).toEqual([]);
  });

  test('of every kind of limit denies', async () => {
    const time = new FakeTime();
    const limits = {
      Rate: { key, count: 10, period: '1h' },
      Quota: quota({ key, count: 10, per: 'month' }),
      Slots: concurrency({ key, concurrency: 2 }),
      Pool: { key: everyone(), count: 100, period: '1h' },
      Borrower: borrow({
        key,
        count: 10,
        period: '1h',
        borrow: { from: 'Pool', ceiling: { count: 50, period: '1h' } },
      }),
      Load: load({ key, load: () => 0 }),
    };
    const limiter: Limiter = createLimiter({ limits, time, log: false, store: memoryStore({ time }) });
    for (const limit of ['Rate', 'Quota', 'Slots', 'Borrower', 'Load']) {
      const entry = [{ limit, id: '7' }];
      const spend = () => limiter.spendSync(entry, { hold: true });
      expect(spend()).toMatchObject({ allowed: true });
      // oxlint-disable-next-line no-await-in-loop
      await limiter.block([{ ...entry[0]!, ...WHY }]);
      expect(spend()).toMatchObject({ ...DENIED, limit });
      // oxlint-disable-next-line no-await-in-loop
      await limiter.unblock(entry);
      expect(spend().blocked).toBe(false);
    }
    await limiter.close();
  });

  test('is of the canonical id', async () => {
    const limits = { Networks: { key: ipv6RangeCIDR(), count: 10, period: '1h' } };
    const limiter = createLimiter({ limits, log: false });
    const [block] = await limiter.block([{ limit: 'Networks', id: '2001:DB8:7::/48', ...WHY }]);
    expect(block!.id).toBe('2001:db8:7::/48');
    expect(limiter.spendSync([{ limit: 'Networks', id: '2001:db8:7::/48' }]).blocked).toBe(true);
  });

  test('applies in each limiter on one memory store', async () => {
    const store = memoryStore();
    const [one, other] = [orders(store), orders(store)];
    await one.block('7');
    expect(other.limiter.spendSync([{ limit: 'Orders', id: '7' }]).blocked).toBe(true);
  });

  test('of a disabled limit denies nobody', async () => {
    const limits = { Orders: { key, count: 10, period: '1h', disabled: true } };
    const limiter = createLimiter({ limits, log: false });
    await limiter.block([{ limit: 'Orders', id: '7', ...WHY }]);
    expect(limiter.spendSync([{ limit: 'Orders', id: '7' }]).allowed).toBe(true);
  });

  test('and its end are published on the channel of corrections, and counted as nothing', async () => {
    const { limiter, block } = orders();
    const counted = counts(limiter);
    const told: unknown[] = [];
    const note = ({ limit, cost, direction }: Record<string, unknown>) => told.push({ limit, cost, direction });
    channel('sluice:correction').subscribe(note as never);
    await block('7');
    await limiter.unblock([{ limit: 'Orders', id: '7' }]);
    await limiter.unblock([{ limit: 'Orders', id: '7' }]);
    channel('sluice:correction').unsubscribe(note as never);
    expect(told).toEqual(['blocked', 'unblocked'].map((direction) => ({ limit: 'Orders', cost: 0, direction })));
    expect(counted.limits).toEqual({});
  });
});

describe('a block that can not be made', () => {
  const wrong = (entry: object) =>
    orders()
      .limiter.block([{ limit: 'Orders', id: '7', ...WHY, ...entry }] as never)
      .then(
        () => 'made',
        (error: Error) => error.message,
      );

  test('names the option, the demand and what to do', async () => {
    expect(await wrong({ forMs: 0 })).toBe(
      "`block.forMs` must be a whole number from 1 to 7776000000, but was 0. A block lasts at most 90 days. Ids that stay blocked for longer belong among the overrides of the limit, as 'blocked'.",
    );
    expect(await wrong({ forMs: 7_776_000_001 })).toContain('belong among the overrides');
    expect(await wrong({ forMs: 7_776_000_000, reason: 'r'.repeat(200), by: 'b'.repeat(100) })).toBe('made');
    expect(await wrong({ reason: 'r'.repeat(201) })).toContain('`block.reason` must be text of 1 to 200 characters');
    expect(await wrong({ reason: ' ' })).toContain('`block.reason`');
    expect(await wrong({ by: undefined })).toContain(
      '`block.by` must be text of 1 to 100 characters, but was undefined',
    );
    expect(await wrong({ limit: 'Typo' })).toContain('Typo');
    expect(await wrong({ cost: 1 })).toContain('cost');
    expect(await wrong({ untilMs: 1 })).toContain('untilMs');
  });

  test('leaves all of its call undone', async () => {
    const { limiter } = orders();
    const entries = [
      { limit: 'Orders', id: '6', ...WHY },
      { limit: 'Orders', id: '7', ...WHY, forMs: 0 },
    ] as const;
    await expect(limiter.block(entries)).rejects.toThrow('block.forMs');
    expect(await limiter.blocked()).toEqual([]);
  });

  test('is one of a store without blocks, and the error has a remedy', async () => {
    const { limiter, spend } = orders(Object.assign(memoryStore(), { blocks: undefined, name: 'mine' }));
    for (const call of [() => limiter.blocked(), () => limiter.unblock([{ limit: 'Orders', id: '7' }])])
      // oxlint-disable-next-line no-await-in-loop
      await expect(call()).rejects.toThrow(/\(mine\) has none\. Give it that of storeBlocks\(\)/);
    expect(spend('7').allowed).toBe(true);
  });

  test('is the one above 10,000, for which those that have ended make room', async () => {
    const { limiter, block, time } = orders();
    const all = Array.from({ length: 10_000 }, (_, i) => ({ limit: 'Orders' as const, id: `id${i}`, ...WHY }));
    await limiter.block(all);
    await block('id1');
    await expect(block('7')).rejects.toThrow('the store has 10000');
    time.advance(HOUR_MS);
    await block('7');
    expect(await limiter.blocked()).toHaveLength(1);
  });

  test('is one after close', async () => {
    const { limiter, block } = orders();
    await limiter.close();
    await expect(block('7')).rejects.toThrow('The limiter is closed');
  });
});
