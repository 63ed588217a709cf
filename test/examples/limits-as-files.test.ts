import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import request from 'supertest';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ExampleServer } from './example-server.ts';

const EXAMPLE = new URL('../../examples/limits-as-files/', import.meta.url);
const LIMITS = readFileSync(new URL('limits.yaml', EXAMPLE), 'utf8');

let folder: string;
let server: ExampleServer;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-limits-'));
});
afterEach(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

async function serve(): Promise<void> {
  server = await ExampleServer.start('limits-as-files', 'server.js', { LIMITS: folder });
}

function copyFiles(): void {
  for (const name of ['limits.yaml', 'overrides.yaml']) cpSync(new URL(name, EXAMPLE), join(folder, name));
}

const withBurst = (burst: number): string => LIMITS.replace('burst: 3\n', `burst: ${burst}\n`);

/** The burst that an order was decided by, as its fields tell it. */
async function burstOf(key = 'alice-key'): Promise<number> {
  const { headers } = await request(server.url).post('/orders').set('X-API-Key', key);
  return Number(/"OrdersPerAccount";q=(\d+)/.exec(headers['ratelimit-policy'] ?? '')?.[1]);
}

/** Waits until the limit has this burst. */
async function becomes(burst: number, key?: string): Promise<void> {
  await vi.waitFor(async () => expect(await burstOf(key)).toBe(burst), { timeout: 60_000, interval: 20 });
}

const LAST = 5;

/** Makes two changes: the second is noticed by what the first has led to. */
async function follows(change: (burst: number) => void): Promise<void> {
  for (const burst of [4, LAST]) {
    change(burst);
    await becomes(burst);
  }
}

const statusOf = async (): Promise<{ version: string; lastError?: string }> =>
  (await request(server.url).get('/limits')).body as { version: string; lastError?: string };

describe('examples/limits-as-files', () => {
  it('uses the limits and overrides of its files', async () => {
    copyFiles();
    await serve();
    expect(await burstOf()).toBe(3);
    expect(await burstOf('bob-key')).toBe(300);
    expect(await server.stop()).toBe(0);
  });

  it('answers a key that is not known with 401, and counts it for its address', async () => {
    copyFiles();
    await serve();
    const order = (i: number): Promise<globalThis.Response> =>
      fetch(`${server.url}/orders`, { method: 'POST', headers: { 'X-API-Key': `invented-${i}` } });
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => order(i)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 429]));
    expect(answers[0]!.headers.get('ratelimit-policy')).not.toContain('OrdersPerAccount');
  });

  it('uses a file that is written in place', async () => {
    copyFiles();
    await serve();
    await follows((burst) => writeFileSync(join(folder, 'limits.yaml'), withBurst(burst)));
    expect(await burstOf()).toBe(LAST);
  });

  it('uses a file that is renamed over the old one', async () => {
    copyFiles();
    await serve();
    await follows((burst) => {
      writeFileSync(join(folder, 'new'), withBurst(burst));
      renameSync(join(folder, 'new'), join(folder, 'limits.yaml'));
    });
    expect(await burstOf()).toBe(LAST);
  });

  it('follows the file of overrides too, to the last one', async () => {
    copyFiles();
    await serve();
    expect(await burstOf('bob-key')).toBe(300);
    writeFileSync(join(folder, 'overrides.yaml'), '[]\n');
    await becomes(3, 'bob-key');
  });

  it('uses the target of a replaced link, as with a ConfigMap of Kubernetes', async () => {
    const swap = (name: string, burst: number): void => {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'limits.yaml'), withBurst(burst));
      writeFileSync(join(folder, name, 'overrides.yaml'), '[]\n');
      symlinkSync(name, join(folder, '..tmp'));
      renameSync(join(folder, '..tmp'), join(folder, '..data'));
    };
    swap('..one', 3);
    for (const name of ['limits.yaml', 'overrides.yaml']) symlinkSync(join('..data', name), join(folder, name));
    await serve();
    expect(await burstOf()).toBe(3);
    await follows((burst) => swap(`..${burst}`, burst));
  });

  it('keeps the last good limits after a typo, logs it once, and uses the next good ones', async () => {
    copyFiles();
    await serve();
    const { version } = await statusOf();
    writeFileSync(join(folder, 'limits.yaml'), LIMITS.replace('burst: 3\n', 'brust: 3\n'));
    await vi.waitFor(async () => expect((await statusOf()).lastError).toBeDefined(), 60_000);
    const message = `${folder}/limits.yaml:8:3: \`OrdersPerAccount\` has no option \`brust\` (its value was 3).`;
    expect(await statusOf()).toMatchObject({ version, lastError: expect.stringContaining(message) as string });
    expect(await burstOf()).toBe(3);
    expect(server.output.split(message)).toHaveLength(2);
    writeFileSync(join(folder, 'limits.yaml'), withBurst(4));
    await becomes(4);
    expect((await statusOf()).lastError).toBeUndefined();
  });
});
