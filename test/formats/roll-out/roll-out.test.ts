import { afterAll, beforeAll, expect, test } from 'vitest';
import { folder } from '../../host/socket-path.ts';
import { postgresServer } from '../../postgres/postgres-server.ts';
import { redisServer } from '../../redis/servers/redis-server.ts';
import { sized } from '../../sized.ts';
import { hasOldCommit, oldPackages } from '../old-packages.ts';
import { RollOut } from './roll-out.ts';
import { StoreProcess } from './store-process.ts';

// In one file, because each would build the packages of the version before.
const OPERATIONS = sized(640, 10_000);

const paths = folder();
const isThere = hasOldCommit();
beforeAll(() => {
  if (isThere) oldPackages();
});
afterAll(() => paths.delete());

test.runIf(isThere)(
  'a process of the version before and one of this version decide together on Redis, as plain counters do',
  async () => {
    const server = await redisServer();
    const address = { kind: 'redis', url: server.url, prefix: 'sluice:' } as const;
    const processes = await Promise.all([new StoreProcess('old').open(address), new StoreProcess('new').open(address)]);
    const rollOut = new RollOut(1);
    await rollOut.run(processes, OPERATIONS);
    expect(rollOut.operations).toBeGreaterThanOrEqual(OPERATIONS);
    await Promise.all(processes.map((each) => each.end()));
  },
);

test.runIf(isThere)(
  'a process of the version before and one of this version decide together on PostgreSQL, each by its function',
  async () => {
    const server = await postgresServer();
    const table = server.newTable();
    const address = { kind: 'postgres', url: server.url, table } as const;
    const old = await new StoreProcess('old').open(address);
    const next = await new StoreProcess('new').open(address);
    const functions = await server.query('select proname from pg_proc where starts_with(proname, $1) order by 1', [
      table,
    ]);
    expect(functions.map(({ proname }) => proname)).toEqual([
      `${table}_run_v1`,
      `${table}_run_v2`,
      `${table}_sweep_v1`,
    ]);
    const rollOut = new RollOut(2);
    await rollOut.run([old, next], OPERATIONS);
    expect(rollOut.operations).toBeGreaterThanOrEqual(OPERATIONS);
    // As for somebody who goes back after `dropOld`: the old process makes its function again.
    await server.query(`drop function ${table}_run_v1`);
    await rollOut.run([old, next], 64);
    await Promise.all([old.end(), next.end()]);
  },
);

test.runIf(isThere)(
  'processes of two versions decide together on a socket, and hand their buckets to each other in both directions',
  async () => {
    const address = { kind: 'host', socket: paths.newSocket() } as const;
    const operations = OPERATIONS / 3;
    const rollOut = new RollOut(3);
    const first = await new StoreProcess('old').open(address);
    const next = await new StoreProcess('new').open(address);
    expect([await first.role(), await next.role()]).toEqual(['serving', 'asking']);
    await rollOut.run([first, next], operations);

    await first.end();
    const back = await new StoreProcess('old').open(address);
    expect([await next.role(), await back.role()]).toEqual(['serving', 'asking']);
    await rollOut.run([next, back], operations);

    await next.end();
    const last = await new StoreProcess('new').open(address);
    expect([await back.role(), await last.role()]).toEqual(['serving', 'asking']);
    await rollOut.run([back, last], operations);
    expect(rollOut.operations).toBeGreaterThanOrEqual(OPERATIONS);
    await Promise.all([back.end(), last.end()]);
  },
);
