import { readFileSync } from 'node:fs';
import { Cluster } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { sharedCluster } from '../../../../test/redis/servers/shared-cluster.ts';
import { decideScript } from '../../src/batches/script-batch.ts';
import type { ScriptClient } from '../../src/client/script-client.ts';
import { openClient, type ClientOptions } from '../../src/open-client.ts';
import { ABSENT_LEVEL_TICKS, type SyncCall, type SyncEntry, type SyncReply } from '../../src/leases/rules/sync-call.ts';
import { decodeSync, encodeSync, sendSync, syncScript } from '../../src/leases/sync-script.ts';
import { BURST, isAllowed, order, owed, TOKEN_TICKS } from '../support/orders.ts';
import { readyStore } from '../support/ready-store.ts';
import { callsOf } from '@sluice/core/testing';

const DEADLINE_MS = 2000;
const server = await redisServer();
const store = await readyStore({ url: server.url, prefix: 'l:', rememberDenialsMs: 0 });

async function readyClient(options: Omit<ClientOptions, 'script' | 'caller'>): Promise<ScriptClient> {
  const client = openClient({ ...options, caller: 'leasedStore', script: decideScript });
  await client.ready(10_000);
  return client;
}
const client = await readyClient({ url: server.url });

/** A sync of a bucket of Orders. */
function entry(id: string, options: Partial<SyncEntry> = {}): SyncEntry {
  return {
    key: `l:Orders:${id}`,
    chargeTicks: 0,
    ownLevelTicks: undefined,
    returnTicks: 0,
    wantedTokens: 0,
    intervalTicks: TOKEN_TICKS,
    fitTicks: BURST * TOKEN_TICKS,
    capTicks: (BURST + 2) * TOKEN_TICKS,
    floorTicks: 0,
    lost: false,
    ...options,
  };
}

/** The levels of a reply, in whole tokens. */
function levelsOf({ buckets }: SyncReply): number[] {
  return owed({ nowTicks: 0, levelsTicks: buckets.map(({ levelTicks }) => levelTicks) });
}

/** The entries of the next sync, with the TATs of a reply as floors. */
function withFloors({ entries }: SyncCall, { nowTicks, buckets }: SyncReply): SyncEntry[] {
  const floors = buckets.map(({ levelTicks }) => nowTicks + levelTicks);
  return entries.map((each, i) => ({ ...each, wantedTokens: 0, floorTicks: floors[i] ?? 0 }));
}

let streams = 0;

function callOf(entries: readonly SyncEntry[], options: Partial<SyncCall> = {}): SyncCall {
  return {
    stream: `l::seq:${streams++}`,
    sequence: 1,
    answeredSequence: 0,
    streamLifeMs: 60_000,
    latestTicks: Number.MAX_SAFE_INTEGER,
    entries,
    ...options,
  };
}

test('the script is lua/sync.lua, as `npm run setup` found it', () => {
  expect(syncScript.source).toBe(readFileSync(new URL('../../lua/sync.lua', import.meta.url), 'utf8'));
});

describe('one bucket of processes with and without leases', () => {
  test('has for each what the other left', async () => {
    await callsOf(store).spend([order('both', 2)]);
    const { buckets } = await sendSync(client, callOf([entry('both', { wantedTokens: 2 })]), DEADLINE_MS);
    expect(buckets).toMatchObject([{ grantedTokens: 2 }]);
    const fifth = await callsOf(store).spend([order('both')]);
    const sixth = await callsOf(store).spend([order('both')]);
    expect([fifth, sixth].map((reading) => isAllowed([order('both')], reading))).toEqual([true, false]);
  });

  test('keeps what was charged above the burst when a process without leases is denied, charges or gives back', async () => {
    const chargeTicks = (BURST + 2) * TOKEN_TICKS;
    await sendSync(client, callOf([entry('above', { chargeTicks, ownLevelTicks: chargeTicks })]), DEADLINE_MS);
    const denied = await callsOf(store).spend([order('above')]);
    await callsOf(store).charge([order('above')]);
    const after = await callsOf(store).refund([{ ...order('above'), incrementTicks: TOKEN_TICKS }]);
    expect([owed(denied), owed(after)]).toEqual([[BURST + 2], [BURST + 1]]);
  });

  test('is full for both after a reset, and the reply to the next sync says that it was lowered', async () => {
    const call = callOf([entry('reset', { wantedTokens: BURST })]);
    const entries = withFloors(call, await sendSync(client, call, DEADLINE_MS));
    await callsOf(store).reset([{ limit: 'Orders', id: 'reset' }]);
    const next = { ...call, sequence: 2, answeredSequence: 1, entries };
    expect(await sendSync(client, next, DEADLINE_MS)).toMatchObject({
      lost: false,
      buckets: [{ levelTicks: ABSENT_LEVEL_TICKS, keptFloor: false, grantedTokens: 0 }],
    });
  });
});

describe('a sync', () => {
  test('that is sent twice takes effect once', async () => {
    const call = callOf([entry('twice', { wantedTokens: 2 })]);
    const first = await sendSync(client, call, DEADLINE_MS);
    const second = await sendSync(client, call, DEADLINE_MS);
    expect([first.fresh, second.fresh]).toEqual([true, false]);
    expect(second.buckets).toMatchObject([{ grantedTokens: 0 }]);
    expect(levelsOf(second)).toEqual([2]);
  });

  test('restores what the server has lost, and not what was deleted', async () => {
    const call = callOf([entry('lost', { wantedTokens: 3 }), entry('deleted', { wantedTokens: 3 })]);
    const entries = withFloors(call, await sendSync(client, call, DEADLINE_MS));
    await server.call('DEL', 'l:Orders:deleted');
    const second = { ...call, sequence: 2, answeredSequence: 1, entries };
    expect(await sendSync(client, second, DEADLINE_MS)).toMatchObject({
      lost: false,
      buckets: [{ keptFloor: true }, { levelTicks: ABSENT_LEVEL_TICKS }],
    });
    await server.call('DEL', 'l:Orders:lost', call.stream);
    const third = { ...second, sequence: 3, answeredSequence: 2, entries: entries.slice(0, 1) };
    const reply = await sendSync(client, third, DEADLINE_MS);
    expect([reply.lost, levelsOf(reply)]).toEqual([true, [3]]);
  });

  test('that has found a loss reports it again when it is repeated, and restores nothing again', async () => {
    const call = callOf([entry('twice-lost', { wantedTokens: 3 })]);
    const entries = withFloors(call, await sendSync(client, call, DEADLINE_MS));
    await server.call('DEL', 'l:Orders:twice-lost', call.stream);
    const second = { ...call, sequence: 2, answeredSequence: 1, entries };
    expect(await sendSync(client, second, DEADLINE_MS)).toMatchObject({ fresh: true, lost: true });
    await server.call('DEL', 'l:Orders:twice-lost');
    expect(await sendSync(client, second, DEADLINE_MS)).toMatchObject({
      fresh: false,
      lost: true,
      buckets: [{ levelTicks: ABSENT_LEVEL_TICKS }],
    });
    const third = { ...second, sequence: 3, answeredSequence: 2 };
    expect(await sendSync(client, third, DEADLINE_MS)).toMatchObject({ fresh: true, lost: false });
    expect(await sendSync(client, third, DEADLINE_MS)).toMatchObject({ fresh: false, lost: false });
  });

  test('goes on when the server has forgotten the script', async () => {
    await server.call('SCRIPT', 'FLUSH');
    expect(await sendSync(client, callOf([entry('flushed')]), DEADLINE_MS)).toMatchObject({ fresh: true });
  });

  test('reports a key that is not a bucket as a bucket at its cap, and leaves it alone', async () => {
    await server.call('RPUSH', 'l:Orders:list', 'element');
    const { buckets } = await sendSync(client, callOf([entry('list'), entry('beside')]), DEADLINE_MS);
    const { capTicks } = entry('list');
    expect(buckets).toEqual([
      { levelTicks: capTicks, keptFloor: false, grantedTokens: 0, isBroken: true },
      { levelTicks: ABSENT_LEVEL_TICKS, keptFloor: true, grantedTokens: 0 },
    ]);
  });

  test('that reaches the server too late is not applied, and may be sent again', async () => {
    const call = callOf([entry('late', { wantedTokens: 1 })]);
    server.freeze();
    await expect(sendSync(client, call, 30)).rejects.toMatchObject({ code: 'ERR_STORE_DEADLINE' });
    server.thaw();
    await client.ready(10_000);
    expect(await sendSync(client, call, DEADLINE_MS)).toMatchObject({ fresh: true, buckets: [{ grantedTokens: 1 }] });
  });

  test('of a hash slot runs on its node in a cluster', async () => {
    const { addresses } = await sharedCluster();
    const inCluster = await readyClient({ client: new Cluster([...addresses], { lazyConnect: true }) });
    const tagged = ['a', 'b'].map((id) => ({ ...entry(id, { wantedTokens: 1 }), key: `{sync}:${id}` }));
    const reply = await sendSync(inCluster, callOf(tagged, { stream: '{sync}::seq' }), DEADLINE_MS);
    expect(reply.buckets.map(({ grantedTokens }) => grantedTokens)).toEqual([1, 1]);
    await inCluster.close();
  });
});

describe('the arguments of a sync', () => {
  test('have the numbers of consecutive buckets of one limit once', () => {
    const [intervalTicks, fitTicks, capTicks] = [2, 4, 6];
    const numbers = { intervalTicks, fitTicks, capTicks };
    const other = { intervalTicks: 1, fitTicks: 2, capTicks: 3, wantedTokens: 5, lost: true, floorTicks: 8 };
    const charged = { chargeTicks: 7, ownLevelTicks: 6, returnTicks: 5 };
    const entries = [entry('1', numbers), entry('2', { ...numbers, ...charged }), entry('3', other)];
    const { keys, args } = encodeSync(callOf(entries, { latestTicks: 9 }));
    const none = -(2 ** 53);
    expect(keys.slice(1)).toEqual(entries.map(({ key }) => key));
    const groups = [
      [2, intervalTicks, fitTicks, capTicks, '+0', none, 0, 0, none, '+7', 6, 5, 0, none],
      [1, 1, 2, 3, '+0', none, 0, 11, 8],
    ];
    expect(args).toEqual([1, 0, 60_000, 9, ...groups.flat()]);
  });

  test('are one number for a bucket of which only one token is charged', () => {
    const one = { intervalTicks: 2, fitTicks: 4, capTicks: 6, chargeTicks: 2, ownLevelTicks: -9 };
    const more = [{ chargeTicks: 4 }, { returnTicks: 1 }, { wantedTokens: 1 }, { floorTicks: 1 }, { lost: true }];
    const others = [{}, ...more].map((other, i) => entry(`${i}`, { ...one, ...other }));
    const { args } = encodeSync(callOf(others));
    expect(args.slice(4, 9)).toEqual([6, 2, 4, 6, -9]);
    expect(args.slice(9)).toHaveLength(5 * more.length);
  });
});

describe('a reply of another shape', () => {
  test.each([
    ['that is too short', [5, 1]],
    ['with text', [5, 1, '0']],
    ['with unknown flags', [5, 4, 0]],
    ['with no number of tokens', [5, 1, 0, 1, null]],
    ['with tokens of no bucket', [5, 1, 0, 2, 1]],
    ['with half of a pair', [5, 1, 0, 1]],
    ['without flags', [5, null, 0]],
  ])('%s is an error', (_, reply) => {
    expect(() => decodeSync(callOf([entry('shape')]), reply)).toThrow(
      expect.objectContaining({ code: 'ERR_STORE_ANSWER' }),
    );
  });
});
