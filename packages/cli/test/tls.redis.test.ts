import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { reservedPort } from '../../../test/redis/servers/port.ts';
import { redisServer } from '../../../test/redis/servers/redis-server.ts';
import { sentinelSet } from '../../../test/redis/servers/sentinel-set.ts';
import { written } from './files.ts';
import { run, runJson } from './run.ts';

const LIMITS = 'Orders: { count: 300, period: 3h, idFormat: accountId }\n';
const PEER = 'basicConstraints=critical,CA:FALSE\nsubjectAltName=IP:127.0.0.1\n';

/** An authority of a test, and a certificate of it for 127.0.0.1. */
function certificates(): { ca: string; cert: string; key: string } {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-tls-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [ca, caKey, cert, key] = ['ca.pem', 'ca.key', 'cert.pem', 'cert.key'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
    string,
  ];
  const openssl = (args: readonly string[], input = ''): Buffer =>
    execFileSync('openssl', args, { input, stdio: ['pipe', 'pipe', 'ignore'] });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(['req', '-x509', ...newKey, '-keyout', caKey, '-out', ca, '-days', '2', '-subj', '/CN=test authority']);
  const request = openssl(['req', ...newKey, '-keyout', key, '-subj', '/CN=redis']);
  const extensions = join(folder, 'extensions');
  execFileSync('sh', ['-c', 'cat > "$0"', extensions], { input: PEER });
  const sign = ['x509', '-req', '-CA', ca, '-CAkey', caKey, '-CAcreateserial', '-days', '2', '-extfile', extensions];
  openssl([...sign, '-out', cert], String(request));
  return { ca, cert, key };
}

async function tlsServer(): Promise<{ url: string; ca: string }> {
  const { ca, cert, key } = certificates();
  const port = await reservedPort();
  await redisServer({
    config: {
      'tls-port': String(port),
      'tls-cert-file': cert,
      'tls-key-file': key,
      'tls-ca-cert-file': ca,
      'tls-auth-clients': 'no',
    },
  });
  return { url: `rediss://127.0.0.1:${port}`, ca };
}

describe('a Redis with TLS', () => {
  it('is operated by commands that trust its authority', async () => {
    const { url, ca } = await tlsServer();
    const [limits = ''] = written(LIMITS);
    const on = (command: string, ...words: string[]): Promise<unknown> =>
      runJson([command, '--redis', url, '--tls-ca', ca, limits, ...words]);
    expect(await on('charge', 'Orders', 'nora', '--cost', '4')).toMatchObject({ bucket: { remaining: 296 } });
    expect(await on('peek', 'Orders', 'nora')).toMatchObject({ remaining: 296 });
    expect(await on('top')).toMatchObject({ complete: true, top: [{ id: 'nora', remaining: 296 }] });
  });

  it('is not called if its certificate is not trusted', async () => {
    const { url } = await tlsServer();
    const [limits = ''] = written(LIMITS);
    const { code, err } = await run(['peek', '--redis', url, '--timeout', '1000', limits, 'Orders', 'nora']);
    expect(code).toBe(2);
    expect(err).toContain('ERR_STORE_UNAVAILABLE');
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
