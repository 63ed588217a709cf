import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { redisServer, type RedisServer } from '../../../test/redis/servers/redis-server.ts';
import { sharedCluster } from '../../../test/redis/servers/shared-cluster.ts';
import { tcpProxy } from '../../../test/redis/servers/tcp-proxy.ts';
import { diagnosis } from './diagnosis.ts';
import { written } from './files.ts';
import { run, runJson } from './run.ts';

const LIMITS = 'Orders: { count: 300, period: 300h, idFormat: accountId }';

/** Runs commands on a server. */
function on({ url }: Pick<RedisServer, 'url'>) {
  const [limits = ''] = written(LIMITS);
  const change = (command: string, ...options: string[]) =>
    run([command, '--redis', url, '--log', '--by', 'ann', ...options, limits, 'Orders', 'alice']);
  const records = async (...options: string[]) => {
    const { records: all } = (await runJson(['log', '--redis', url, ...options])) as { records: unknown[] };
    return all as { what: string; id: string }[];
  };
  return { change, records, limits };
}

test('--log adds a record of each change to a stream, which sluice log prints from the oldest on', async () => {
  const server = await redisServer();
  const { change, records } = on(server);
  expect(await run(['log', '--redis', server.url])).toEqual({
    code: 0,
    out: '',
    err: 'No change is recorded. Commands record theirs with --log.\n',
  });
  const charged = await change('charge', '--cost', '7', '--reason', 'ticket 7');
  // Without --audit, nothing is written to stderr.
  expect(charged).toMatchObject({ code: 0, err: 'Charged 7.\n' });
  await change('refund', '--cost', '2', '--hash-ids');
  expect((await change('reset', '--yes', '--audit')).err).toContain('"what":"reset"');
  const expected = { type: 'sluice-audit', version: 1, by: 'ann', limit: 'Orders', outcome: 'done' };
  expect(await records()).toMatchObject([
    { ...expected, what: 'charge', id: 'alice', before: 300, after: 293, reason: 'ticket 7' },
    { ...expected, what: 'refund', id: expect.stringMatching(/^sha256:/) as string, before: 293, after: 295 },
    { ...expected, what: 'reset', before: 295, after: 300, reason: null },
  ]);
  const { code, out } = await run(['log', '--redis', server.url]);
  expect({ code, lines: out.replace(/^[\dT:.-]+Z/gm, 'TIME').split('\n') }).toEqual({
    code: 0,
    lines: [
      'TIME ann: charge Orders alice, 300 → 293: ticket 7',
      expect.stringMatching(/^TIME ann: refund Orders sha256:[0-9a-f]{32}, 293 → 295$/),
      'TIME ann: reset Orders alice, 295 → 300',
      '',
    ],
  });
  const [, second] = await records();
  expect((await records('--hash-ids')).map(({ id }) => id)).toEqual(Array.from({ length: 3 }, () => second!.id));
  expect(await server.call('KEYS', '*')).toContain('sluice:log');
});

test('--since leaves out what is older by the clock of Redis', async () => {
  const server = await redisServer();
  const { change, records } = on(server);
  const [seconds] = await server.call<[string, string]>('TIME');
  const old = JSON.stringify({ ...JSON.parse(RECORD), what: 'old' });
  await server.call('XADD', 'sluice:log', `${Number(seconds) - 3 * 3600}000-0`, 'record', old);
  await change('charge');
  expect((await records('--since', '2h')).map(({ what }) => what)).toEqual(['charge']);
  expect((await records('--since', '4h')).map(({ what }) => what)).toEqual(['old', 'charge']);
  for (const since of ['2', '2w', '-2h', '0h', '1h30m', '']) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { code, err } = await run(['log', '--redis', server.url, '--since', since]);
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining('`--since` must be a time such as') as string,
    });
  }
});

const RECORD =
  '{"type":"sluice-audit","version":1,"time":"2026-11-30T06:00:00.000Z","by":"ann","what":"reset","limit":"Orders","id":"a","before":1,"after":2,"outcome":"done","reason":null}';

test('the stream has about the last 10000 records, and is read in steps', async () => {
  const server = await redisServer();
  const { change, records } = on(server);
  await server.call(
    'EVAL',
    "for i = 1, 12000 do redis.call('XADD', KEYS[1], '*', 'record', ARGV[1]) end",
    1,
    'sluice:log',
    RECORD,
  );
  await change('charge');
  const all = await records();
  expect(all.length).toBeGreaterThanOrEqual(10_000);
  expect(all.length).toBeLessThan(10_200);
  expect(all.at(-1)).toMatchObject({ what: 'charge' });
});

test('what others have written to the stream is left out, and can not change the terminal', async () => {
  const server = await redisServer();
  const entries = ['', '{', 'null', '5', '{"type":"sluice-audit","version":2}', RECORD.replace('"ann"', '5')];
  for (const entry of [...entries, RECORD.replace('ann', '\\u001b[31m\\n')]) {
    // oxlint-disable-next-line no-await-in-loop -- in this order
    await server.call('XADD', 'sluice:log', '*', 'record', entry);
  }
  await server.call('XADD', 'sluice:log', '*', 'other', RECORD);
  const { code, out, err } = await run(['log', '--redis', server.url]);
  expect({ code, err }).toEqual({ code: 0, err: 'Left out because they are not records of this version: 7.\n' });
  expect(out).not.toContain('\u001B');
  expect(out.split('\n')).toHaveLength(2);
});

test('a prefix, and a cluster, have a log of their own', async () => {
  const { addresses } = await sharedCluster();
  const { change, records } = on({ url: `redis://127.0.0.1:${addresses[0]!.port}` });
  expect(await change('charge', '--cluster', '--prefix', 'log-test:')).toMatchObject({ code: 0 });
  expect(await records('--cluster', '--prefix', 'log-test:')).toMatchObject([{ what: 'charge' }]);
  expect(await records('--cluster', '--prefix', 'log-other:')).toEqual([]);
});

test('sluice doctor and sluice top know the log, and no other stream', async () => {
  const server = await redisServer();
  const { change, limits } = on(server);
  await change('charge');
  expect(await diagnosis(['--redis', server.url])).toMatchObject({ code: 0, wrong: [] });
  expect(await runJson(['top', '--redis', server.url, limits])).toMatchObject({ buckets: 1, broken: 0 });
  await server.call('XADD', 'sluice:jobs', '*', 'a', 'b');
  expect((await diagnosis(['--redis', server.url])).wrong).toEqual([
    expect.stringContaining("'sluice:jobs' is not a bucket"),
  ]);
});

test('without the permission, or with the key of another program, nothing is changed', async () => {
  const page = readFileSync(new URL('../../../docs/running-on-redis.md', import.meta.url), 'utf8');
  const [, name = '', rights = ''] = /^ACL SETUSER (\w+) on (.*)$/m.exec(page) ?? [];
  const server = await redisServer();
  await server.call('ACL', 'SETUSER', name, 'on', ...rights.replaceAll("'", '').split(' '));
  const asUser = on({ url: server.url.replace('//', `//${name}:secret@`) });
  const refused = await asUser.change('charge');
  expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringContaining('Give the user +xadd') as string });
  expect(await server.call('KEYS', '*')).toEqual([]);
  const [, more = ''] = /`sluice log`\]\(.*?\) also need `([^`]+)`/.exec(page) ?? [];
  await server.call('ACL', 'SETUSER', name, ...more.split(' '));
  expect(await asUser.change('charge')).toMatchObject({ code: 0 });
  expect(await asUser.records()).toHaveLength(1);
  await server.call('DEL', 'sluice:log');
  await server.call('SET', 'sluice:log', 'x');
  expect(await asUser.change('charge')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/WRONGTYPE.* or delete what another program has there\.$/m) as string,
  });
  expect((await run(['log', '--redis', server.url])).err).toContain('Redis can not read sluice:log: WRONGTYPE');
  expect((await run(['peek', '--redis', server.url, asUser.limits, 'Orders', 'alice'])).out).toContain('299 of 300');
});

test('the error of a change whose record is lost contains the record', async () => {
  const server = await redisServer();
  const proxy = await tcpProxy(server);
  proxy.onRequest = (chunk) => {
    if (chunk.includes('MAXLEN')) proxy.blackhole('requests');
  };
  const { change } = on(proxy);
  const { code, err } = await change('charge', '--timeout', '500');
  expect(code).toBe(2);
  expect(err).toContain(
    'error: The change was made. The record was not added to sluice:log: Command timed out. Check that Redis answers,',
  );
  expect(err).toMatch(/Its record is: \{"type":"sluice-audit".*"after":299/);
});

test.each([
  [['--store', 'host:/run/app.sock'], 'The log is a stream in Redis, and this is another store'],
  [['--reason', 'x'.repeat(501)], '`--reason` must have at most 500 characters with `--log`'],
])('--log with %j is refused', async (options, message) => {
  const [limits = ''] = written(LIMITS);
  const ran = await run(['charge', '--log', '--by', 'ann', ...options, limits, 'Orders', 'alice']);
  expect(ran).toMatchObject({ code: 2, err: expect.stringContaining(message) as string });
});

test('the log of a service is in the Redis of the service, which sluice log asks for', async () => {
  const { code, err } = await run(['log'], { env: { SLUICE_STORE: 'serve:http://127.0.0.1:9' } });
  expect({ code, err }).toEqual({
    code: 2,
    err: expect.stringContaining('Name its Redis by --redis.') as string,
  });
});
