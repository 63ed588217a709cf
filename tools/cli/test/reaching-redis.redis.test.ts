import { Cluster } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { redisServer } from '../../../test/redis/servers/redis-server.ts';
import { realDelay } from '../../../test/real-delay.ts';
import { sentinelSet } from '../../../test/redis/servers/sentinel-set.ts';
import { sharedCluster } from '../../../test/redis/servers/shared-cluster.ts';
import { moduleOf, written } from './files.ts';
import { run, runJson } from './run.ts';

const LIMITS = 'Orders: { count: 300, period: 3h, idFormat: accountId }\n';

describe('a Redis that does not answer', () => {
  const [OK, REFUSED] = ['was not ready within 300 ms', 'ECONNREFUSED'];

  it('is reported within the timeout when it hangs', async () => {
    const server = await redisServer();
    const [limits = ''] = written(LIMITS);
    server.freeze();
    const { code, err } = await run(['peek', '--redis', server.url, '--timeout', '300ms', limits, 'Orders', 'a']);
    server.thaw();
    expect(code).toBe(2);
    expect(err).toContain(OK);
    expect(err).toContain('`--timeout`');
  });

  it('is reported when nothing listens', async () => {
    const server = await redisServer({ absent: true });
    const [limits = ''] = written(LIMITS);
    const { code, err } = await run([
      'reset',
      '--yes',
      '--redis',
      server.url,
      '--timeout',
      '300',
      limits,
      'Orders',
      'a',
    ]);
    expect(code).toBe(2);
    expect(err).toContain(REFUSED);
  });

  it('is reported with its reason when it wants a password, which is not shown', async () => {
    const server = await redisServer({ config: { requirepass: 'right' } });
    const [limits = ''] = written(LIMITS);
    const peek = (url: string) => run(['peek', '--redis', url, '--timeout', '1000', limits, 'Orders', 'a']);
    const { code, err } = await peek(server.url.replace('//', '//:secret@'));
    expect(code).toBe(2);
    expect(err).toContain('WRONGPASS');
    expect(err).not.toContain('secret');
    expect((await peek(server.url.replace('//', '//default:right@'))).code).toBe(0);
  });

  it.each([undefined, 0, 300])('can be ended with Ctrl-C, before it was called or %s ms later', async (ms) => {
    const server = await redisServer({ absent: true });
    const [limits = ''] = written(LIMITS);
    const controller = new AbortController();
    const args = ['peek', '--redis', server.url, '--timeout', '5000', limits, 'Orders', 'a'];
    if (ms === undefined) controller.abort();
    const running = run(args, { interrupted: controller.signal });
    await realDelay(ms ?? 0);
    controller.abort();
    expect(await running).toEqual({ code: 130, out: '', err: '' });
  });
});

describe('in a cluster', () => {
  it('all commands work, also with the hash tag of a function', async () => {
    const { addresses } = await sharedCluster();
    const [limits = ''] = written(LIMITS);
    const module = moduleOf('export const hashTag = ({ id }) => id.slice(0, 1);\n');
    const options = ['--redis', `redis://127.0.0.1:${addresses[1]?.port}`, '--cluster', '--prefix', 'cli:'];
    const tagged = [...options, '--hash-tag-module', module];
    const cluster = new Cluster([...addresses]);
    onTestFinished(() => cluster.disconnect());
    for (const [given, key] of [
      [options, 'cli:Orders:mia'],
      [tagged, 'cli:{m}:Orders:mia'],
    ] as const) {
      const on = (command: string, ...rest: string[]) => runJson([command, ...given, limits, 'Orders', 'mia', ...rest]);
      expect(await on('charge', '--cost', '8')).toMatchObject({ bucket: { remaining: 292 } });
      expect(await cluster.exists(key)).toBe(1);
      expect(await on('peek')).toMatchObject({ remaining: 292 });
      expect(await on('refund', '--cost', '3')).toMatchObject({ bucket: { remaining: 295 } });
      expect(await on('reset', '--yes')).toMatchObject({ before: 295, bucket: { remaining: 300 } });
      expect(await cluster.exists(key)).toBe(0);
    }
  });
});

describe('behind Sentinels', () => {
  it('commands use the primary that the Sentinels name', async () => {
    const set = await sentinelSet();
    const [limits = ''] = written(LIMITS);
    const sentinels = set.sentinels.flatMap(({ host, port }) => ['--sentinel', `${host}:${port}`]);
    const args = ['charge', ...sentinels, '--master', set.name, limits, 'Orders', 'nora', '--cost', '4'];
    expect(await runJson(args)).toMatchObject({ bucket: { remaining: 296 } });
  });
});

describe('the options of the server', () => {
  const [NO_URL, BOTH] = ['`--redis` must be the URL of a server.', 'must be given together'];
  it.each([
    [[], NO_URL],
    [['--redis', 'http://user:secret@host'], '`--redis` must be a URL that begins with redis:// or rediss://.'],
    [['--redis', 'redis://user:secret%zz@host'], 'User and password in `--redis` must be percent-encoded'],
    [['--redis', 'redis://host/x'], 'The path of `--redis` must be the number of a database'],
    [['--sentinel', 'host:26379'], BOTH],
    [['--master', 'mymaster'], BOTH],
    [['--sentinel', 'host:26379', '--master', 'm', '--cluster'], 'Only one of `--sentinel` and `--cluster`'],
    [['--redis', 'redis://host', '--timeout', '0'], '`--timeout` must be a whole number from 1 to 60000'],
  ])('rejects %j, and shows no password', async (options, message) => {
    const [limits = ''] = written(LIMITS);
    const { code, err } = await run(['peek', ...options, limits, 'Orders', 'a']);
    expect(code).toBe(2);
    expect(err).toContain(message);
    expect(err).not.toContain('secret');
  });
});
