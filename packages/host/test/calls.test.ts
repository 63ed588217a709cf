import { createLimiter, everyone } from '@sluice/core';
import { StalePeriodError, type StoreOperation } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { hostStore, type HostStore } from '@sluice/host';
import { utimesSync, mkdirSync, readdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { ownFolder } from './own-folder.ts';

const own = ownFolder();

async function open(options: { readonly time?: FakeTime } = {}): Promise<HostStore> {
  const store = hostStore({ socket: own.socket, log: false, ...options });
  own.opened.push(store);
  await store.ready();
  return store;
}

/** A store that serves, and one that asks it. */
async function both(options: { readonly time?: FakeTime } = {}): Promise<readonly [HostStore, HostStore]> {
  return [await open(options), await open(options)];
}

function spend(id: string, incrementTicks = 1): StoreOperation {
  const transaction = { limit: 'Orders', id, incrementTicks, fitTicks: 2 ** 50, capTicks: 2 ** 50 };
  return { kind: 'spend', alternatives: [[{ ...transaction, mode: 'check-and-spend' }]] };
}

test('the socket can be used by its user only', async () => {
  await open();
  expect((await stat(`${own.socket}.1`)).mode & 0o777).toBe(0o600);
});

test('a process that starts deletes what ended processes have left, and nothing that is new', async () => {
  for (const name of ['old', 'young']) mkdirSync(`${own.socket}.new-${name}`);
  utimesSync(`${own.socket}.new-old`, 0, 0);
  await open();
  expect(readdirSync(own.path)).toEqual(['limits.sock.1', 'limits.sock.new-young']);
});

test('calls of a turn are answered in their order, however many there are', async () => {
  const [, asking] = await both();
  const readings = await Promise.all(Array.from({ length: 20_000 }, () => asking.run(spend('one', 2 ** 30), 60_000)));
  const tats = readings.map(({ nowTicks, levelsTicks: [level = 0] }) => nowTicks + level);
  expect(tats).toEqual(tats.toSorted((a, b) => a - b));
  expect(new Set(tats).size).toBe(20_000);
});

test('an operation that is too large is an error, and those beside it are executed', async () => {
  const [, asking] = await both();
  const large = asking.run(spend('x'.repeat(5_000_000)), 10_000);
  const beside = asking.run(spend('y'), 10_000);
  await expect(large).rejects.toMatchObject({ code: 'ERR_OPTION' });
  await expect(beside).resolves.toMatchObject({ levelsTicks: [0] });
});

test('an operation just below the largest size is executed', async () => {
  const [, asking] = await both();
  await expect(asking.run(spend('é'.repeat(2_000_000)), 10_000)).resolves.toMatchObject({ levelsTicks: [0] });
});

test('a wrong deadline is an error', async () => {
  for (const store of await both()) {
    await expect(store.run(spend('x'), 0)).rejects.toMatchObject({ code: 'ERR_OPTION' });
  }
});

test('the error of a stale period has the clock of the serving process', async () => {
  const [, asking] = await both();
  const alternatives = [
    [{ limit: 'Quota', id: 'x', incrementTicks: 1, fitTicks: 9, capTicks: 9, mode: 'check-only', period: [1, 2, 3] }],
  ] as const;
  const error: unknown = await asking.run({ kind: 'check', alternatives }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StalePeriodError);
  expect(Math.abs((error as StalePeriodError).wallMs - Date.now())).toBeLessThan(60_000);
});

test('both processes see one clock', async () => {
  const [serving, asking] = await both();
  const check = { kind: 'check', alternatives: [[]] } as const;
  const readings = [await serving.run(check), await asking.run(check), await serving.run(check)];
  const ticks = readings.map(({ nowTicks }) => nowTicks);
  expect(ticks).toEqual(ticks.toSorted((a, b) => a - b));
});

test('the refund of a decision of buckets that are lost gives back no more than is still to come', async () => {
  const [serving, asking] = await both();
  const asked = { limit: 'Orders', id: 'x', capTicks: 2 ** 50 };
  // A token that is back after a tick: its TAT has passed when the buckets are lost.
  const { nowTicks } = await serving.run(spend('x'));
  await serving.close();
  await asking.run(spend('x', 2 ** 40));
  const refund = { ...asked, incrementTicks: 2 ** 40, tatAfterSpendTicks: nowTicks + 1 };
  const { levelsTicks } = await asking.run({ kind: 'refund', batch: [refund] });
  expect(levelsTicks[0]).toBeGreaterThan(2 ** 39);
});

test('calls that wait when the store is closed fail, and so do later ones', async () => {
  const [, asking] = await both();
  const waiting = asking.run(spend('x'));
  await asking.close();
  await expect(waiting).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
  await expect(asking.run(spend('x'))).rejects.toMatchObject({ code: 'ERR_CLOSED' });
  await expect(asking.ready()).rejects.toMatchObject({ code: 'ERR_CLOSED' });
});

test('what was sent before the store is closed is still executed', async () => {
  const [serving, asking] = await both();
  asking.run(spend('x', 2 ** 40)).catch(() => {});
  await asking.close();
  await expect.poll(async () => (await serving.run(spend('x', 0))).levelsTicks[0]).toBeGreaterThan(0);
});

test('a store that is closed while it joins does not serve', async () => {
  const early = hostStore({ socket: own.socket, log: false });
  const ready = early.ready();
  await early.close();
  await expect(ready).rejects.toMatchObject({ code: 'ERR_CLOSED' });
  const late = await open();
  expect(late.status()).toMatchObject({ role: 'serving', clients: 0 });
});

test('the serving process reports pressure to its listeners', async () => {
  const store = hostStore({ socket: own.socket, maxKeys: 10, log: false });
  own.opened.push(store);
  await store.ready();
  const reports: string[] = [];
  store.watch(({ type }) => reports.push(type));
  for (let i = 0; i < 20; i++) await store.run(spend(`${i}`, 2 ** 40));
  expect(reports).toContain('pressure');
});

test('limiters of two processes share a limit', async () => {
  const limits = { Shared: { key: everyone(), burst: 3, count: 1, period: '1d' } } as const;
  const [serving, asking] = await both();
  const first = createLimiter({ limits, store: serving, failure: { deadlineMs: 10_000 }, log: false });
  const second = createLimiter({ limits, store: asking, failure: { deadlineMs: 10_000 }, log: false });
  const entry = [{ limit: 'Shared', id: 'everyone' }] as const;
  expect((await first.spend(entry)).remaining).toBe(2);
  expect((await second.spend(entry)).remaining).toBe(1);
  expect((await first.spend(entry)).remaining).toBe(0);
  expect((await second.spend(entry)).allowed).toBe(false);
});
