import type { SluiceError } from '@sluice/core';
import type { StoreTransaction } from '@sluice/core/store';
import type { RedisStoreEvent } from '@sluice/redis';
import { Cluster } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { redisCluster, type RedisCluster } from '../../../../test/redis/servers/redis-cluster.ts';
import type { RedisServer } from '../../../../test/redis/servers/redis-server.ts';
import { running } from '../../../../test/redis/servers/running.ts';
import { until } from '../../../../test/redis/servers/until.ts';
import {
  BURST,
  charge,
  hold,
  inFlight,
  isAllowed,
  order,
  owed,
  read,
  refund,
  SLOTS,
  TOKEN_TICKS,
} from '../support/orders.ts';
import { readyStore } from '../support/ready-store.ts';
import { callsOf, FakeTime } from '@sluice/core/testing';

const nothingRuns = running.now();
// No failover when the machine stalls.
const cluster: RedisCluster = await redisCluster({ nodeTimeoutMs: 60_000 });
const client = (): Cluster => new Cluster([...cluster.addresses], { lazyConnect: true });
const events: RedisStoreEvent[] = [];
const onEvent = (event: RedisStoreEvent): void => void events.push(event);
const store = await readyStore({ client: client(), prefix: 'c:', onEvent, log: false });
afterAll(async () => {
  await store.close();
  await running.closeAllBut(nothingRuns);
});

const primaryOf = async (id: string): Promise<RedisServer> => cluster.primaryOf(await cluster.slotOf(`c:Orders:${id}`));

/** Ids whose buckets of Orders are on different nodes. */
let [here, there]: [string, string] = ['', ''];
let other: RedisServer;

/** New ids on the same two nodes for each test. */
async function anewIds(name: string): Promise<void> {
  here = `${name}-0`;
  const home = await primaryOf(here);
  for (let i = 1; ; i++) {
    there = `${name}-${i}`;
    // oxlint-disable-next-line no-await-in-loop -- the first that is elsewhere
    other = await primaryOf(there);
    if (other !== home) return;
  }
}

const levelsOf = async (...ids: string[]): Promise<number[]> =>
  owed(await callsOf(store).check(ids.map((id) => order(id))));

describe('a batch over several slots', () => {
  test('takes from all its buckets when all allow it, and returns the clock of each', async () => {
    await anewIds('grants');
    const reading = await callsOf(store).spend([order(here, 1), order(there, 2)]);
    expect(owed(reading)).toEqual([0, 0]);
    expect(reading.bucketNowTicks).toHaveLength(2);
    expect(await levelsOf(here, there)).toEqual([1, 2]);
  });

  test.each([
    ['the first', () => there, () => here],
    ['the last', () => here, () => there],
  ])('that %s denies takes from no bucket: tokens of the others are given back', async (_what, rich, poor) => {
    await anewIds(`refuses-${_what.replace(' ', '-')}`);
    await callsOf(store).spend([order(poor(), 5)]);
    const batch = [order(here, 2), order(there, 2)];
    const reading = await callsOf(store).spend(batch);
    expect(isAllowed(batch, reading)).toBe(false);
    expect(await levelsOf(rich(), poor())).toEqual([0, 5]);
  });

  test('that is denied gives back spend-only too, and tokens of several buckets', async () => {
    await anewIds('modes');
    await callsOf(store).spend([order(there, 5), order(`{${here}}-poor`, 4)]);
    const batch: StoreTransaction[] = [order(here, 2, 'spend-only'), read(here, 1, 'spend-only'), order(there)];
    expect(isAllowed(batch, await callsOf(store).spend(batch))).toBe(false);
    expect(owed(await callsOf(store).check([order(here), read(here), order(there)]))).toEqual([0, 0, 5]);
  });

  test('keeps the modes: check-only takes nothing, spend-only denies nothing', async () => {
    await anewIds('keeps');
    await callsOf(store).spend([order(there, 5)]);
    const batch = [order(here, 2), order(there, 1, 'spend-only')];
    expect(isAllowed(batch, await callsOf(store).spend(batch))).toBe(true);
    expect(await levelsOf(here, there)).toEqual([2, 5]);
    await callsOf(store).spend([order(here, 1, 'check-only'), order(there, 0)]);
    expect(await levelsOf(here, there)).toEqual([2, 5]);
    expect(isAllowed([order(there)], await callsOf(store).spend([order(there, 1, 'check-only'), order(here, 0)]))).toBe(
      false,
    );
  });

  test('never takes more than there is, however many ask', async () => {
    await anewIds('never');
    const others = await readyStore({ client: client(), prefix: 'c:', rememberDenialsMs: 0 });
    const request = [order(here), order(there)];
    const back = [order(there), order(here)];
    const asked = Array.from({ length: 40 }, (_, i) =>
      i % 2 ? callsOf(store).spend(request) : callsOf(others).spend(back),
    );
    const readings = await Promise.all(asked);
    const allowed = readings.filter((reading) => isAllowed(request, reading)).length;
    await others.close();
    expect(allowed).toBeLessThanOrEqual(BURST);
    await until('the tokens of the denied batch are given back', async () => {
      const [a, b] = await levelsOf(here, there);
      return a === allowed && b === allowed;
    });
  });

  test('that is denied is remembered: repeated requests cause no load on any node', async () => {
    await anewIds('hammers');
    await callsOf(store).spend([order(there, 5)]);
    const request = [order(here, 2), order(there)];
    await callsOf(store).spend(request);
    await levelsOf(here, there);
    const { calls } = store.status().counts;
    for (let i = 0; i < 10; i++) expect(owed(await callsOf(store).spend(request))).toEqual([0, 5]);
    expect(store.status().counts.calls).toBe(calls);
  });

  test('charges, refunds and resets all its buckets', async () => {
    await anewIds('corrects');
    expect(owed(await callsOf(store).charge([charge(here, 3), charge(there, 9)]))).toEqual([3, 5]);
    expect(owed(await callsOf(store).refund([refund(here, 1), refund(there, 2)]))).toEqual([2, 3]);
    await callsOf(store).reset([
      { limit: 'Orders', id: here },
      { limit: 'Orders', id: there },
    ]);
    expect(await levelsOf(here, there)).toEqual([0, 0]);
  });

  test('with a broken bucket takes nothing, and names the bucket', async () => {
    await anewIds('broken');
    await other.call('SET', `c:Orders:${there}`, 'hello');
    const asked = callsOf(store).spend([order(here), order(there)]);
    await expect(asked).rejects.toMatchObject({
      code: 'ERR_STORE_BUCKET',
      message: expect.stringContaining(`c:Orders:${there}`),
    });
    expect(await levelsOf(here)).toEqual([0]);
  });
});

describe('a batch with slots of a concurrency limit over several hash slots', () => {
  const heldIn = async (...ids: string[]) =>
    (await callsOf(store).check(ids.map((id) => inFlight(id, 'look')))).levelsTicks;
  const membersOf = (id: string) => other.call<string[]>('ZRANGE', `c:InFlight:${id}@slots`, 0, -1);

  /** An id whose slots are on the other node than the tokens of `here`. */
  async function idElsewhere(name: string): Promise<string> {
    await anewIds(name);
    for (let i = 0; ; i++) {
      const id = `${name}-slots-${i}`;
      // oxlint-disable-next-line no-await-in-loop -- the first that is elsewhere
      const node = await cluster.primaryOf(await cluster.slotOf(`c:InFlight:${id}@slots`));
      if (node === other) return id;
    }
  }

  test('that a rate denies releases all slots that it has taken, and no others', async () => {
    const id = await idElsewhere('slots-released');
    await callsOf(store).spend([order(here, 5), inFlight(id, 'before')]);
    const batch = [inFlight(id, 'denied', { count: 2 }), order(here), inFlight(here, 'denied')];
    expect(isAllowed(batch, await callsOf(store).spend(batch))).toBe(false);
    expect(await heldIn(id, here)).toEqual([1, 0]);
    expect(await membersOf(id)).toEqual(['clock', 'before:1']);
  });

  test('that is denied for want of a slot gives back the tokens, and takes no slot', async () => {
    const id = await idElsewhere('slots-full');
    await callsOf(store).spend([inFlight(id, 'before', { count: SLOTS })]);
    const batch = [order(here, 2), inFlight(id, 'denied'), inFlight(here, 'denied', { mode: 'spend-only' })];
    expect(isAllowed(batch, await callsOf(store).spend(batch))).toBe(false);
    expect(await levelsOf(here)).toEqual([0]);
    expect(await heldIn(id, here)).toEqual([SLOTS, 0]);
  });

  test('that is denied is followed by an alternative with the same holder', async () => {
    const id = await idElsewhere('slots-alternatives');
    await callsOf(store).spend([order(here, 5)]);
    const batches = [
      [inFlight(id, 'holder', { count: 3 }), order(here)],
      [inFlight(id, 'holder'), order(there)],
    ];
    expect((await callsOf(store).spendFirst(batches)).map(({ levelsTicks }) => levelsTicks[0])).toEqual([0, 0]);
    expect(await heldIn(id)).toEqual([1]);
  });

  test('is renewed and released on all nodes', async () => {
    const id = await idElsewhere('slots-renewed');
    await callsOf(store).renew([hold(id, 'a', { count: 2 }), hold(here, 'a')]);
    expect(await heldIn(id, here)).toEqual([2, 1]);
    await callsOf(store).release([hold(id, 'a'), hold(here, 'a')]);
    expect(await heldIn(id, here)).toEqual([1, 0]);
  });
});

describe('alternatives', () => {
  test('over several slots are tried one after another, and nothing of a denied one stays taken', async () => {
    await anewIds('tried');
    await callsOf(store).spend([order(there, 4)]);
    const alternatives = [[order(here, 2), order(there, 2)], [order(here, 4)], [order(there)]];
    const readings = await callsOf(store).spendFirst(alternatives);
    expect(readings.map(owed)).toEqual([[0, 4], [0]]);
    expect(await levelsOf(here, there)).toEqual([4, 4]);
  });

  test('over several slots may all be denied', async () => {
    await anewIds('all-denied');
    await callsOf(store).spend([order(here, 5), order(there, 5)]);
    expect((await callsOf(store).spendFirst([[order(here)], [order(there)]])).map(owed)).toEqual([[5], [5]]);
  });

  test('over several slots may end with one without transactions', async () => {
    await anewIds('without');
    await callsOf(store).spend([order(here, 5), order(there, 5)]);
    const readings = await callsOf(store).spendFirst([[order(here)], [order(there)], [], [order('never')]]);
    expect(readings.map(owed)).toEqual([[5], [5], []]);
  });

  test('in one slot are one call', async () => {
    const tagged = await readyStore({ client: client(), hashTag: 'id', prefix: 'tagged-alternatives:' });
    await callsOf(tagged).spend([order('7', 5)]);
    const before = tagged.status().counts.calls;
    expect((await callsOf(tagged).spendFirst([[order('7')], [read('7')]])).map(owed)).toEqual([[5], [0]]);
    expect(tagged.status().counts.calls).toBe(before + 1);
    await tagged.close();
  });

  test('over several slots have one deadline together', async () => {
    await anewIds('deadline');
    await callsOf(store).spend([order(here, 5)]);
    // So long because the clocks of the servers do not stop.
    const [deadlineMs, firstTakesMs] = [20_000, 12_000];
    const time = new FakeTime();
    const steered = await readyStore({ client: client(), prefix: 'c:', log: false, time });
    const { calls } = steered.status().counts;
    other.freeze();
    try {
      const denied = callsOf(steered).spendFirst([[order(here)], [order(there)]], deadlineMs);
      const outcome = denied.then(
        () => 'answered',
        ({ code }: SluiceError) => code,
      );
      time.advance(firstTakesMs);
      await until('the second one is sent', () => {
        time.advance(0);
        return steered.status().counts.calls === calls + 2;
      });
      time.advance(deadlineMs - firstTakesMs);
      other.thaw();
      expect(await outcome).toBe('ERR_STORE_DEADLINE');
    } finally {
      other.thaw();
    }
    await steered.close();
    await until('it answers again', () => levelsOf(there).then(Boolean, () => false));
  });
});

describe('a refund of one slot', () => {
  test('gives back only what has not refilled by itself, by the clock of its own node', async () => {
    await anewIds('own-clock');
    const { levelsTicks, nowTicks, bucketNowTicks } = await callsOf(store).spend([order(here, 3), order(there, 3)]);
    const tats = levelsTicks.map((level, i) => (bucketNowTicks?.[i] ?? nowTicks) + level + 3 * TOKEN_TICKS);
    await callsOf(store).spend([order(here), order(there)]);
    await callsOf(store).refund([refund(here, 3, tats[0]), refund(there, 3, tats[1])]);
    expect(await levelsOf(here, there)).toEqual([1, 1]);
  });
});

describe('buckets with a hash tag in common', () => {
  test('are decided by one call', async () => {
    const tagged = await readyStore({ client: client(), hashTag: 'id', prefix: 'tagged:' });
    const before = tagged.status().counts.calls;
    const reading = await callsOf(tagged).spend([order('7'), read('7')]);
    expect(tagged.status().counts.calls).toBe(before + 1);
    expect(reading.bucketNowTicks).toBeUndefined();
    await tagged.close();
  });
});

describe('while a slot moves', () => {
  test('a batch with buckets at both ends waits for the end of the move, and no other that travels with it', async () => {
    const tagged = await readyStore({ client: client(), hashTag: 'id', prefix: 'moves:', rememberDenialsMs: 0 });
    const slot = await cluster.slotOf('moves:Orders:{moves}');
    const from = await cluster.primaryOf(slot);
    const to = cluster.nodes.slice(0, 3).find((node) => node !== from)!;
    const [fromId, toId] = await Promise.all([cluster.idOf(from), cluster.idOf(to)]);
    await callsOf(tagged).spend([order('moves', 2), read('moves', 3)]);
    await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId);
    await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId);
    await from.call('MIGRATE', to.host, to.port, 'moves:Orders:{moves}', 0, 1000);
    const asked = [[order('moves')], [order('moves'), read('moves')], [read('moves')], [order('moves')]];
    const [moved, both, waits, again] = await Promise.allSettled(asked.map((batch) => callsOf(tagged).spend(batch)));
    expect(both).toMatchObject({ status: 'rejected', reason: { code: 'ERR_STORE_BUCKET' } });
    expect([moved, waits, again]).toMatchObject(
      [2, 3, 3].map((tokens) => ({ value: { levelsTicks: [expect.toSatisfy(isAbout(tokens))] } })),
    );
    await from.call('MIGRATE', to.host, to.port, 'moves:Reads:{moves}', 0, 1000);
    await to.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
    await from.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
    expect(owed(await callsOf(tagged).check([order('moves'), read('moves')]))).toEqual([4, 4]);
    await tagged.close();
  });
});

const isAbout = (tokens: number) => (levelTicks: unknown) => Math.ceil(Number(levelTicks) / TOKEN_TICKS) === tokens;

describe('when a node does not answer', () => {
  beforeAll(() => anewIds('silent'));

  test('what the others granted is given back, and the batch fails', async () => {
    other.freeze();
    try {
      const asked = callsOf(store).spend([order(here, 2), order(there)], 100);
      await expect(asked).rejects.toMatchObject({ code: expect.stringMatching(/^ERR_STORE_(DEADLINE|UNAVAILABLE)$/) });
      await until('it is given back', async () => (await levelsOf(here))[0] === 0);
    } finally {
      other.thaw();
    }
  });

  test('to a refund either, the tokens stay taken, and an event, a log line and the status report it', async () => {
    await anewIds('lost');
    const home = await primaryOf(here);
    const watched: RedisStoreEvent[] = [];
    const lines: string[] = [];
    const own = await readyStore({
      client: client(),
      prefix: 'c:',
      onEvent: (event) => watched.push(event),
      log: (line) => lines.push(line),
    });
    await callsOf(own).spend([order(there, 5)]);
    // It refuses when the other has granted, and can no longer be reached.
    other.freeze();
    const asked = callsOf(own).spend([order(here, 2), order(there)], 1500);
    await until('one has granted', async () => (await levelsOf(here))[0] === 2);
    // Redis writes answers when it has run all calls at hand: with the next round trip that of the grant was written.
    await levelsOf(here);
    home.freeze();
    other.thaw();
    expect(isAllowed([order(here, 2), order(there)], await asked)).toBe(false);
    await until('the refund has failed', () => own.status().counts.lostRefunds === 1);
    home.thaw();
    const event = watched.find(({ type }) => type === 'refund-lost');
    expect(event).toMatchObject({ count: 1, cause: { code: expect.stringMatching(/^ERR_STORE_/) } });
    expect(lines).toEqual([`Sluice: ${event?.message}`]);
    await until('it answers again', () => levelsOf(here).then(Boolean, () => false));
    expect(await levelsOf(here)).toEqual([2]);
    await own.close();
  });
});
