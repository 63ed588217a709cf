import { createLimiter, ipAddress, by, memoryStore, type LimitDefinition } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { limitsOf } from '@sluice/core/kit';
import { quota } from '@sluice/core/quota';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, it } from 'vitest';
import { burstCurve } from '../../src/replay/counting/curve.ts';
import { LimitTally } from '../../src/replay/counting/limit-tally.ts';
import { MostDenied } from '../../src/replay/counting/most-denied.ts';
import { type ClientId, ClientTable } from '../../src/replay/keys/client-table.ts';

const key = by(undefined, { format: ipAddress().format });
const START = Date.UTC(2026, 10, 23, 12) * 1000;

/** A tally whose table has room for so many clients. */
function tallyOf(
  numbers: object,
  { rows = 1000, passes = 1, time = new FakeTime() }: { rows?: number; passes?: number; time?: FakeTime } = {},
): { tally: LimitTally; clients: ClientTable; client: (text: string) => ClientId } {
  const limits = { Orders: { key, ...numbers } as LimitDefinition };
  const limit = limitsOf(createLimiter({ limits, store: memoryStore({ time }), time, log: false })).get('Orders')!;
  const clients = new ClientTable(rows, passes);
  return {
    tally: new LimitTally(limit, clients, passes, START),
    clients,
    client: (text) => ({ text, ...clients.placeOf(text) }),
  };
}

const RATE = { count: 1, period: '1s', burst: 5 } as const;

describe('LimitTally', () => {
  it('counts all requests and denials, also those of clients that are not in the sample', () => {
    const { tally, clients, client } = tallyOf(RATE, { rows: 8 });
    const all = Array.from({ length: 200 }, (_, i) => client(`10.0.0.${i}`));
    for (const each of all) {
      tally.count(each, START, 1);
      tally.raise(each, 0, START, 1, 0);
      tally.deny(each, 0, 7, { isSuccess: false, route: 0 });
    }
    expect(clients.sampling).toBeGreaterThan(8);
    expect(tally).toMatchObject({ asked: 200, passes: [{ denied: 200, deniedSuccesses: 0 }] });
    const rows = [...clients.used()];
    expect(rows.map((row) => [clients.requests[row], clients.denied[0]?.[row]])).toEqual(rows.map(() => [1, 1]));
    // A row of a client that has left the sample is empty.
    const empty = Array.from(clients.requests.keys()).filter((row) => !rows.includes(row));
    expect(empty.every((row) => clients.requests[row] === 0 && clients.need[0]?.[row] === 0)).toBe(true);
    // Some were never in the sample, and others have left it: their rows may be those of other clients.
    const others = all.filter((each) => clients.rowOf(each) === -1);
    expect(new Set(others.map(({ row }) => row === -1))).toEqual(new Set([true, false]));
    for (const each of others) tally.noteOverridden(each);
    expect(tally.overridden).toBe(others.length);
    expect(rows.some((row) => clients.overridden[row] === 1)).toBe(false);
  });

  it('finds the smallest burst of a client that denies none of its requests', () => {
    const { tally, clients, client } = tallyOf(RATE);
    const one = client('10.0.0.1');
    for (const ms of [0, 0, 900, 1100, 60_000]) tally.raise(one, 0, START + ms * 1000, 1, 0);
    expect(clients.need[0]?.[one.row]).toBe(3);
    tally.raise(one, 0, START + 120e6, 4, 0);
    expect(clients.need[0]?.[one.row]).toBe(4);
  });
});

describe('the need of a client', () => {
  it('is the largest number when it is too large, and not a small one', () => {
    const { tally, clients, client } = tallyOf(RATE);
    const one = client('10.0.0.1');
    for (let i = 0; i < 5; i++) tally.raise(one, 0, START, 999_999_999, 0);
    expect(clients.need[0]?.[one.row]).toBe(5 * 999_999_999);
  });

  it.each([
    ['day', 86_400_000_000],
    ['month', 1_000_000_000_000],
  ] as const)('of a %s is exact up to the most tokens of its quota, in each of many periods', (per, most) => {
    const time = new FakeTime();
    const { tally, clients, client } = tallyOf(quota({ key, count: 1, per }), { time });
    const one = client('10.0.0.1');
    const raise = (days: number, cost: number) => {
      time.setWall(START / 1000 + days * 86_400_000);
      tally.raise(one, 0, time.wallNow() * 1000, cost, 0);
    };
    for (let period = 0; period < 100; period++) raise(40 * period, most / 2);
    expect(clients.need[0]?.[one.row]).toBe(most / 2);
    raise(40 * 99, most / 2 - 1);
    expect(clients.need[0]?.[one.row]).toBe(most - 1);
  });
});

describe('LimitTally of a concurrency limit', () => {
  it('finds the smallest number of slots of a client that denies none of its requests', () => {
    const { tally, clients, client } = tallyOf(concurrency({ key, concurrency: 1 }));
    const [one, other] = [client('10.0.0.1'), client('10.0.0.2')];
    // One after the other, each at the end of the one before.
    for (const ms of [0, 10, 20]) tally.raise(one, 0, START + ms * 1000, 1, 10_000);
    expect(clients.need[0]?.[one.row]).toBe(1);
    for (const ms of [30, 31, 39]) tally.raise(other, 0, START + ms * 1000, 2, 9000);
    expect(clients.need[0]?.[other.row]).toBe(4);
    tally.raise(one, 0, START + 40_000, 3, 0);
    expect([clients.need[0]?.[one.row], tally.hasCurve]).toEqual([3, true]);
  });

  it('keeps the slots of clients apart when their rows are used by others', () => {
    const { tally, clients, client } = tallyOf(concurrency({ key, concurrency: 1 }), { rows: 8 });
    for (let i = 0; i < 400; i++) tally.raise(client(`10.0.0.${i}`), 0, START + i, 1, 100);
    const rows = [...clients.used()];
    expect(rows.map((row) => clients.need[0]?.[row])).toEqual(rows.map(() => 1));
    expect(clients.level[0]?.every((level) => level === 0 || level === 1)).toBe(true);
  });

  it('has no curve when there were more requests in progress than it counts', () => {
    const { tally, client } = tallyOf(concurrency({ key, concurrency: 1 }));
    const one = client('10.0.0.1');
    for (let i = 0; i <= 100_000; i++) tally.raise(one, 0, START, 1, 1_000_000);
    expect(tally.hasCurve).toBe(false);
  });
});

describe('burstCurve', () => {
  it('has at most about 120 points, with the smallest and the largest burst among them', () => {
    const { tally, clients, client } = tallyOf(RATE, { rows: 2000 });
    for (let need = 1; need <= 1000; need++) {
      const each = client(`10.0.${need >> 8}.${need & 255}`);
      tally.count(each, START, 1);
      tally.raise(each, 0, START, need, 0);
    }
    const points = burstCurve(clients)!.points;
    expect(points.length).toBeGreaterThan(60);
    expect(points.length).toBeLessThanOrEqual(121);
    expect(points[0]).toMatchObject({ burst: 1, deniedIds: { low: 999, high: 999 } });
    expect(points.at(-1)).toMatchObject({ burst: 1000, deniedIds: { low: 0, high: 0 } });
    for (const { burst, deniedIds } of points) expect(deniedIds.high).toBe(1000 - burst);
  });

  it('does not exist if no id has the numbers of the limit', () => {
    const { tally, clients, client } = tallyOf(RATE);
    expect(burstCurve(clients)).toBeUndefined();
    tally.raise(client('10.0.0.1'), 0, START, 1, 0);
    tally.noteOverridden(client('10.0.0.1'));
    expect(burstCurve(clients)).toBeUndefined();
  });
});

describe('MostDenied', () => {
  it('keeps the ids with the most denials among any number of others', () => {
    const denied = new MostDenied(2);
    for (let i = 0; i < 10_000; i++) {
      denied.add({ text: `once ${i}`, row: -1, hash: i }, 1, i);
      if (i % 100 === 0) denied.add({ text: 'often', row: 1, hash: 1 }, i % 200 === 0 ? 0 : 1, i);
    }
    expect(denied.top(2)[0]).toMatchObject({ client: { text: 'often' }, denied: [50, 50] });
    expect(denied.top(5000).length).toBeLessThanOrEqual(4000);
    const ids = denied.top(5000).map(({ client }) => client.text);
    expect([ids.includes('once 9999'), ids.includes('once 2500')]).toEqual([true, false]);
  });
});
