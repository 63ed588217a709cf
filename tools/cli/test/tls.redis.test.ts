import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { reservedPort } from '../../../test/redis/servers/port.ts';
import { redisServer } from '../../../test/redis/servers/redis-server.ts';
import { sentinelSet } from '../../../test/redis/servers/sentinel-set.ts';
import { written } from './files.ts';
import { run, runJson } from './run.ts';

const LIMITS = 'Orders: { count: 300, period: 3h, idFormat: accountId }\n';
const [CA, CERTIFICATE, KEY] = ['ca.pem', 'server.pem', 'server.key'].map((name) => {
  return join(import.meta.dirname, 'tls', name);
}) as [string, string, string];

/** Starts a server with a certificate of {@link CA}, and returns its URL. */
async function tlsServer(): Promise<string> {
  const port = await reservedPort();
  await redisServer({
    config: {
      'tls-port': String(port),
      'tls-cert-file': CERTIFICATE,
      'tls-key-file': KEY,
      'tls-ca-cert-file': CA,
      'tls-auth-clients': 'no',
    },
  });
  return `rediss://127.0.0.1:${port}`;
}

describe('a Redis with TLS', () => {
  it('is operated by commands that trust its authority', async () => {
    const url = await tlsServer();
    const [limits = ''] = written(LIMITS);
    const on = (command: string, ...words: string[]): Promise<unknown> =>
      runJson([command, '--redis', url, '--tls-ca', CA, limits, ...words]);
    expect(await on('charge', 'Orders', 'nora', '--cost', '4')).toMatchObject({ bucket: { remaining: 296 } });
    expect(await on('peek', 'Orders', 'nora')).toMatchObject({ remaining: 296 });
    expect(await on('top')).toMatchObject({ complete: true, top: [{ id: 'nora', remaining: 296 }] });
  });

  it('is not called if its certificate is not trusted', async () => {
    const url = await tlsServer();
    const [limits = ''] = written(LIMITS);
    const { code, err } = await run(['peek', '--redis', url, '--timeout', '1000', limits, 'Orders', 'nora']);
    expect(code).toBe(2);
    expect(err).toContain('(ERR_STORE_UNAVAILABLE). To trust your own authority, add --tls-ca ca.pem.');
  });
});

describe('--tls-ca', () => {
  it.each([
    ['redis://127.0.0.1:6379', import.meta.filename, 'must be given with a URL that begins with rediss://'],
    ['rediss://127.0.0.1:6379', '/missing/ca.pem', "must be a file of certificates (PEM), but /missing/ca.pem can't"],
  ])('is rejected with %s and %s', async (url, file, text) => {
    const [limits = ''] = written(LIMITS);
    const { code, err } = await run(['peek', '--redis', url, '--tls-ca', file, limits, 'Orders', 'nora']);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(text) as string });
  });
});

describe('Sentinels with a password', () => {
  it('are asked with the login of the environment', async () => {
    const set = await sentinelSet();
    const first = set.sentinels.slice(0, 1);
    await Promise.all(first.map((each) => each.call('ACL', 'SETUSER', 'default', 'resetpass', '>secret')));
    const [limits = ''] = written(LIMITS);
    const sentinels = first.flatMap(({ port }) => ['--sentinel', `127.0.0.1:${port}`]);
    const args = ['charge', ...sentinels, '--master', set.name, limits, 'Orders', 'nora'];
    const env = { SLUICE_SENTINEL_USERNAME: 'default', SLUICE_SENTINEL_PASSWORD: 'secret' };
    expect(await runJson(args, { env })).toMatchObject({ bucket: { remaining: 299 } });
    expect(await run([...args, '--timeout', '1000'])).toMatchObject({ code: 2 });
  });

  it('are not named by a URL', async () => {
    const [limits = ''] = written(LIMITS);
    const url = 'redis+sentinel://:secret@10.0.0.1:26379/mymaster';
    const { code, err } = await run(['peek', '--redis', url, limits, 'Orders', 'nora']);
    expect(code).toBe(2);
    expect(err).toContain('`--redis` does not take the URL of a Sentinel. For example --sentinel 10.0.0.1:26379');
    expect(err).not.toContain('secret');
  });
});
