// The limiters of other libraries on a Redis that processes share, and that fails.
import type { FailurePolicy } from '@sluice/core';
import { redisStore } from '@sluice/redis';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { COUNTERS, flood } from '../contract/drop-in/counters.ts';
import { ENTRIES, type Ask, type EntryAnswer } from '../contract/drop-in/entries.ts';
import { sized } from '../sized.ts';
import { run } from './processes/run.ts';
import { redisServer, type RedisServer } from './servers/redis-server.ts';
import { running } from './servers/running.ts';
import { until } from './servers/until.ts';

/** Each loads all of the libraries, so they are only in `npm run test:all`. */
const PROCESSES = sized(0, 8);

test.skipIf(PROCESSES === 0)(
  `${PROCESSES} processes let exactly the limit through, behind each of the limiters`,
  async () => {
    const server = await redisServer();
    const children = Array.from({ length: PROCESSES }, () => run('drop-in.mjs', [server.url, '40']));
    await Promise.all(children.map((child) => once(child, 'message')));
    const answered = children.map(async (child) => ((await once(child, 'message')) as [number[][]])[0]);
    for (const child of children) child.send('go');
    const statuses = await Promise.all(answered);
    const passed = ENTRIES.map(({ name }, i) => {
      const all = statuses.flatMap((ofProcess) => ofProcess[i]!);
      return {
        name,
        passed: all.filter((status) => status < 429).length,
        failed: all.filter((status) => status > 429),
      };
    });
    expect(passed).toEqual(ENTRIES.map(({ name }) => ({ name, passed: 30, failed: [] })));
  },
);

const KEYS = sized(2000, 1_000_000);

test.each(COUNTERS)(
  `${KEYS} clients leave a denied client denied on Redis, and all of their keys expire, behind %s`,
  async (_name, counter) => {
    const server = await redisServer();
    const store = redisStore({ url: server.url, log: false });
    running.add({ close: () => store.close() });
    await store.ready();
    const failure = { onFailure: 'closed', deadlineMs: 20_000 } as const;
    const login = counter({ store, failure, windowMs: 3_600_000, name: 'login', limit: 2 });
    const others = counter({ store, failure, windowMs: 3_600_000, name: 'others', limit: 1 });
    expect([await login('k'), await login('k'), await login('k')]).toEqual([true, true, false]);
    await flood(others, KEYS);
    expect(await login('k')).toBe(false);
    const [keys, expires] = String(await server.call('INFO', 'keyspace'))
      .match(/(?<=keys=|expires=)\d+/g)!
      .map(Number);
    // A limiter that has lasted for a second has also written its numbers.
    const ofNumbers = keys! - KEYS - 1;
    expect({ expires, ofNumbers: [0, 2, 4].includes(ofNumbers) }).toEqual({ expires: keys, ofNumbers: true });
  },
  600_000,
);

test.each(ENTRIES.filter(({ givesBack }) => givesBack))(
  'on Redis a failed request is given back, and a denied one gives nothing back, behind $name',
  async ({ serve }) => {
    const server = await redisServer();
    const store = redisStore({ url: server.url, log: false });
    running.add({ close: () => store.close() });
    await store.ready();
    const ask = await serve({
      limit: 3,
      windowMs: 3_600_000,
      store,
      skipFailedRequests: true,
      failure: { deadlineMs: 20_000 },
    });
    for (let i = 0; i < 6; i++) {
      expect((await ask('203.0.113.7', true)).status).toBe(400);
      await until('it is given back', async () => (await server.call<string[]>('KEYS', '*203.0.113.7*')).length === 0);
    }
    const all = async (count: number): Promise<number[]> =>
      (await Promise.all(Array.from({ length: count }, () => ask('203.0.113.7')))).map(({ status }) => status);
    expect((await all(20)).filter((status) => status < 429)).toHaveLength(3);
    expect(new Set(await all(20))).toEqual(new Set([429]));
  },
);

/** Long enough for a busy machine: before and after the fault, Redis decides. */
const DEADLINE_MS = 500;

/** What the server does, and how it is mended. */
const FAULTS = {
  killed: { begin: (server: RedisServer) => server.kill(), end: (server: RedisServer) => server.start() },
  stopped: { begin: (server: RedisServer) => server.freeze(), end: (server: RedisServer) => server.thaw() },
  slow: {
    begin: (server: RedisServer) => server.call('CLIENT', 'PAUSE', 3_600_000, 'WRITE'),
    end: (server: RedisServer) => server.call('CLIENT', 'UNPAUSE'),
  },
} as const;

async function askedOn(serve: (typeof ENTRIES)[number]['serve'], onFailure: FailurePolicy) {
  const server = await redisServer();
  const store = redisStore({ url: server.url, log: false });
  running.add({ close: () => store.close() });
  await store.ready();
  const failure = { onFailure, deadlineMs: DEADLINE_MS };
  const options = { limit: 3, windowMs: 3_600_000, store, failure, log: false } as const;
  const ask = await serve(options);
  return { server, ask };
}

const asked = async (ask: Ask, client: string): Promise<number[]> => {
  const all: EntryAnswer[] = [];
  // oxlint-disable-next-line no-await-in-loop -- one after another
  for (let i = 0; i < 4; i++) all.push(await ask(client));
  return all.map(({ status }) => (status < 429 ? 200 : status));
};

describe.each(ENTRIES)('while Redis is gone behind $name', ({ name, serve }) => {
  test.each(Object.entries(FAULTS))('%s, it is still limited, and afterwards by Redis again', async (_how, fault) => {
    const { server, ask } = await askedOn(serve, 'local');
    expect(await asked(ask, '203.0.113.1')).toEqual([200, 200, 200, 429]);
    await fault.begin(server);
    expect(await asked(ask, '203.0.113.2')).toEqual([200, 200, 200, 429]);
    await fault.end(server);
    // A store whose data was lost begins anew.
    await until('Redis counts', async () => {
      await ask('203.0.113.3');
      const keys = await server.call<string[]>('KEYS', '*203.0.113.3*').catch(() => []);
      return keys.length > 0;
    });
  });

  test('the policy open lets all through, and closed none', async () => {
    const [open, closed] = [await askedOn(serve, 'open'), await askedOn(serve, 'closed')];
    await Promise.all([open.server.kill(), closed.server.kill()]);
    expect(await asked(open.ask, '203.0.113.2')).toEqual([200, 200, 200, 200]);
    const status = name === 'better-auth' ? 500 : 503;
    expect(await asked(closed.ask, '203.0.113.2')).toEqual([status, status, status, status]);
  });
});
