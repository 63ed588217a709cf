import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
async function burstOf(account = '1'): Promise<number> {
  const { headers } = await fetch(`${server.url}/orders`, { method: 'POST', headers: { account } });
  return Number(/"OrdersPerAccount";q=(\d+)/.exec(headers.get('RateLimit-Policy') ?? '')?.[1]);
}

/** Waits until a burst holds; tells how long it took, in milliseconds. */
async function becomes(burst: number, account?: string): Promise<number> {
  const startMs = performance.now();
  await vi.waitFor(async () => expect(await burstOf(account)).toBe(burst), { timeout: 30_000, interval: 20 });
  return performance.now() - startMs;
}

const statusOf = async (): Promise<{ version: string; lastError?: string }> =>
  (await (await fetch(`${server.url}/limits`)).json()) as { version: string; lastError?: string };

describe('examples/limits-as-files', () => {
  it('serves the limits and overrides of its files as they stand', async () => {
    copyFiles();
    await serve();
    expect(await burstOf('1')).toBe(3);
    expect(await burstOf('12345678')).toBe(300);
    expect(await server.stop()).toBe(0);
  });

  it('follows files that are written in place, and those that are renamed over them', async () => {
    copyFiles();
    await serve();
    writeFileSync(join(folder, 'limits.yaml'), withBurst(4));
    expect(await becomes(4)).toBeGreaterThan(0);
    writeFileSync(join(folder, 'new'), withBurst(5));
    renameSync(join(folder, 'new'), join(folder, 'limits.yaml'));
    expect(await becomes(5)).toBeGreaterThan(0);
    writeFileSync(join(folder, 'overrides.yaml'), '[]\n');
    expect(await becomes(5, '12345678')).toBeGreaterThan(0);
  });

  it('follows links that are swapped, as Kubernetes does it with a ConfigMap', async () => {
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
    swap('..two', 6);
    expect(await becomes(6)).toBeGreaterThan(0);
  });

  it('keeps the last good limits on a typo, says so once, and takes the next good ones', async () => {
    copyFiles();
    await serve();
    const { version } = await statusOf();
    writeFileSync(join(folder, 'limits.yaml'), LIMITS.replace('burst: 3\n', 'brust: 3\n'));
    await vi.waitFor(async () => expect((await statusOf()).lastError).toBeDefined(), 30_000);
    const message = `${folder}/limits.yaml:8:3: \`OrdersPerAccount\` has no option \`brust\` (its value was 3).`;
    expect(await statusOf()).toMatchObject({ version, lastError: expect.stringContaining(message) as string });
    expect(await burstOf()).toBe(3);
    expect(server.output.split(message)).toHaveLength(2);
    writeFileSync(join(folder, 'limits.yaml'), withBurst(4));
    expect(await becomes(4)).toBeGreaterThan(0);
    expect((await statusOf()).lastError).toBeUndefined();
  });
});
