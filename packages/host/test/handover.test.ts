import type { StoreHold, StoreTransaction } from '@sluice/core/store';
import { hostStore, type HostStore, type HostStoreEvent } from '@sluice/host';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ownFolder } from './own-folder.ts';

const T = 16_000_000 * 3600;
const HOUR_MS = 3_600_000;

const own = ownFolder();
const file = (): string => `${own.socket}.handover`;

function open(onEvent?: (event: HostStoreEvent) => void): HostStore {
  const store = hostStore({ socket: own.socket, log: false, onEvent });
  own.opened.push(store);
  return store;
}

/** Takes tokens of ten an hour. */
function rate(id: string, cost = 1): StoreTransaction {
  return { limit: 'Rate', id, incrementTicks: cost * T, fitTicks: 10 * T, capTicks: 10 * T, mode: 'check-and-spend' };
}

function quota(id: string, cost = 1): StoreTransaction {
  const start = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  const period = [start, start + 24 * HOUR_MS, start + 48 * HOUR_MS] as const;
  return { ...rate(id, cost), limit: 'Quota', incrementTicks: cost, fitTicks: 10, capTicks: 10, period };
}

function slot(holder: string): StoreTransaction {
  const holding = { holder, expiryMs: 60_000 };
  return { ...rate('slots'), limit: 'Slots', incrementTicks: 1, fitTicks: 10, capTicks: 10, slots: true, holding };
}

const hold = (holder: string): StoreHold => ({
  limit: 'Slots', id: 'slots', slots: true, holder, expiryMs: 60_000, first: 1, count: 1 }); // prettier-ignore

async function levels(store: HostStore, batch: readonly StoreTransaction[]): Promise<readonly number[]> {
  return (await store.run({ kind: 'check', alternatives: [batch] }, 10_000)).levelsTicks;
}

async function spend(store: HostStore, ...batch: readonly StoreTransaction[]): Promise<void> {
  await store.run({ kind: 'spend', alternatives: [batch] }, 10_000);
}

describe('a store that is closed while it serves', () => {
  test('hands rates, quotas and slots to the next one, which deletes the file before it answers', async () => {
    const first = open();
    await spend(first, rate('a', 5), quota('b', 3), slot('one'));
    await spend(first, slot('two'));
    await first.close();
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    const events: HostStoreEvent[] = [];
    const next = open((event) => events.push(event));
    const [ofRate, ofQuota, ofSlots] = await levels(next, [rate('a'), quota('b'), slot('three')]);
    expect(ofRate! / T).toBeCloseTo(5, 2);
    expect([ofQuota, ofSlots]).toEqual([3, 2]);
    expect(readdirSync(own.path)).toEqual(['limits.sock.2']);
    await next.run({ kind: 'release', batch: [hold('one')] });
    expect(await levels(next, [slot('three')])).toEqual([1]);
    expect(events.map(({ type }) => type)).toEqual(['role']);
  });

  test('hands them to a process that asks, whose calls it has not answered', async () => {
    const events: HostStoreEvent[] = [];
    const first = open();
    const asking = open((event) => events.push(event));
    await first.ready();
    await asking.ready();
    let executed = 0;
    for (let round = 0; round < 5; round++) {
      const calls = Array.from({ length: 300 }, (_, i) => spend(asking, rate(`${round}-${i}`)));
      executed += calls.length;
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      if (round === 2) await first.close();
      // oxlint-disable-next-line no-await-in-loop
      await Promise.all(calls);
    }
    const batch = Array.from({ length: executed }, (_, i) => rate(`${Math.floor(i / 300)}-${i % 300}`));
    const each = await levels(asking, batch);
    expect(each.filter((level) => level > 0.99 * T && level <= T)).toHaveLength(executed);
    expect(events.filter(({ type }) => type === 'state-lost')).toEqual([]);
    expect(asking.status().role).toBe('serving');
  });

  test('hands over also without any bucket, so that others know that nothing was lost', async () => {
    const events: HostStoreEvent[] = [];
    const first = open();
    const asking = open((event) => events.push(event));
    await first.ready();
    await asking.ready();
    await first.close();
    await expect.poll(() => asking.status().role).toBe('serving');
    expect(events.filter(({ type }) => type === 'state-lost')).toEqual([]);
  });

  test('leaves the file to the one after the next, if that one ends before it has answered', async () => {
    const first = open();
    await spend(first, rate('a', 5));
    await first.close();
    for (let i = 0; i < 5; i++) {
      const early = open();
      // oxlint-disable-next-line no-await-in-loop -- later each time
      for (let turns = 0; turns < i; turns++) await new Promise((resolve) => void setImmediate(resolve));
      // oxlint-disable-next-line no-await-in-loop
      await early.close();
    }
    const [level] = await levels(open(), [rate('a')]);
    expect(level! / T).toBeCloseTo(5, 2);
  });

  test('hands over 100,000 buckets and slots, and turns of the event loop come between', async () => {
    const first = open();
    const ids = Array.from({ length: 100_000 }, (_, i) => `${i}`);
    for (let i = 0; i < ids.length; i += 10_000) {
      // oxlint-disable-next-line no-await-in-loop
      await spend(first, ...ids.slice(i, i + 10_000).map((id) => rate(id)));
    }
    for (let i = 0; i < 3000; i++) {
      // oxlint-disable-next-line no-await-in-loop
      await first.run({ kind: 'renew', batch: [hold(`holder ${i}`)] });
    }
    let turns = 0;
    const count = (): void => {
      if (turns >= 0) setImmediate(count);
      turns++;
    };
    count();
    await first.close();
    expect(turns).toBeGreaterThan(5);
    const before = turns;
    const next = open();
    await next.ready();
    expect(turns - before).toBeGreaterThan(5);
    turns = -Infinity;
    expect(await levels(next, [slot('x')])).toEqual([3000]);
    for (let i = 0; i < ids.length; i += 10_000) {
      const batch = ids.slice(i, i + 10_000).map((id) => rate(id));
      // oxlint-disable-next-line no-await-in-loop
      expect((await levels(next, batch)).every((level) => level > 0)).toBe(true);
    }
  });
});

describe('a file that can not be taken over', () => {
  async function handedOver(): Promise<void> {
    const first = open();
    await spend(first, rate('a', 5), slot('one'));
    await first.close();
  }

  /** What the next store makes of it. */
  async function next() {
    const events: HostStoreEvent[] = [];
    const store = open((event) => events.push(event));
    const found = await levels(store, [rate('a'), slot('x')]);
    return { found, failed: events.filter(({ type }) => type === 'handover-failed') };
  }

  test.each([
    ['cut off', (bytes: Buffer) => bytes.subarray(0, -5), /is incomplete/],
    ['empty', () => Buffer.alloc(0), /is incomplete/],
    ['of another version', (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 8), Buffer.from([9, 0]), bytes.subarray(10)]), /has version 9/], // prettier-ignore
    ['of another program', (bytes: Buffer) => Buffer.concat([Buffer.from('220 mail'), bytes.subarray(8)]), /is not a host store/], // prettier-ignore
    ['damaged', (bytes: Buffer) => bytes.fill(7, 60, 100), /dump|incomplete/],
    ['damaged in its slots', (bytes: Buffer) => Buffer.from(bytes.toString('latin1').replace('"slots":[{', '"slots":[7,{').replace('expiryTicks":', 'expiryTicks:'), 'latin1'), /slots/], // prettier-ignore
  ])('because it is %s is deleted, all buckets are full, and an event has the reason', async (_, change, reason) => {
    await handedOver();
    writeFileSync(file(), change(readFileSync(file())));
    const { found, failed } = await next();
    expect(found).toEqual([0, 0]);
    expect(failed).toHaveLength(1);
    expect(failed[0]!.message).toMatch(reason);
    expect(readdirSync(own.path)).toEqual(['limits.sock.2']);
  });

  const FIVE_GIB = 5 * 1024 ** 3;
  const kept = (): string => `${own.path}/kept`;

  test.each([
    ['a named pipe', () => execFileSync('mkfifo', [file()]), /is not a regular file/],
    ['a link to a file', () => symlinkSync(kept(), file()), /ELOOP|symbolic/],
    ['a link to nothing', () => symlinkSync('nothing', file()), /ELOOP|symbolic/],
    ['a second name of a file', () => linkSync(kept(), file()), /is not a regular file with one name/],
    ['a folder', () => mkdirSync(file()), /is not a regular file/],
    [
      'larger than any that is written',
      () => {
        renameSync(kept(), file());
        const opened = openSync(file(), 'r+');
        ftruncateSync(opened, FIVE_GIB);
        closeSync(opened);
      },
      /has more than \d+ bytes/,
    ],
  ])('because it is %s is not read, all buckets are full, and an event has the reason', async (_, put, reason) => {
    chmodSync(own.path, 0o1777);
    await handedOver();
    renameSync(file(), kept());
    put();
    const { found, failed } = await next();
    expect(found).toEqual([0, 0]);
    expect(failed.map(({ message }) => message)).toEqual([expect.stringMatching(reason)]);
  });
});

describe.skipIf(process.getuid?.() !== 0)('files of another user', () => {
  const OTHER = 12_345;

  test('a process of root does not ask a socket of another user', async () => {
    const first = open();
    await first.ready();
    chownSync(`${own.socket}.1`, OTHER, OTHER);
    const error = {
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(/belongs to user 12345.* Run all processes as one user\. If nobody/) as string,
    };
    await expect(open().run({ kind: 'check', alternatives: [[rate('a')]] })).rejects.toMatchObject(error);
  });

  test('a process does not use a folder of another user, neither to ask nor to serve', async () => {
    chownSync(own.path, OTHER, OTHER);
    const error = {
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(/the folder .* belongs to user 12345/) as string,
    };
    await expect(open().run({ kind: 'check', alternatives: [[rate('a')]] })).rejects.toMatchObject(error);
    expect(readdirSync(own.path)).toEqual([]);
  });

  test('what another user has put beside the socket, and looks like what a process has left behind, is not deleted', async () => {
    const folder = `${own.socket}.new-abcdef`;
    mkdirSync(folder);
    utimesSync(folder, 0, 0);
    chownSync(folder, OTHER, OTHER);
    const first = open();
    await first.ready();
    expect(existsSync(folder)).toBe(true);
  });

  test('buckets that another user hands over are not taken', async () => {
    const first = open();
    await spend(first, rate('a', 5));
    await first.close();
    chownSync(file(), OTHER, OTHER);
    const events: HostStoreEvent[] = [];
    const store = open((event) => events.push(event));
    expect(await levels(store, [rate('a')])).toEqual([0]);
    expect(events.map(({ type }) => type)).toContain('handover-failed');
    expect(store.status().role).toBe('serving');
  });
});
