import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import { reservedPort } from '../../../test/redis/servers/port.ts';
import { written } from './files.ts';
import { run, type Ran } from './run.ts';

export const LIMITS = `
Orders: { count: 300, period: 3h, maxDebt: 50, idFormat: accountId }
Monthly: { count: 1000, per: month, idFormat: accountId }
PerClient: { count: 2, period: 1h, idFormat: clientNetwork }
`;
export const TABLES = 'http: { api: { limits: [{ limit: PerClient, id: address }] } }\n';
const OVERRIDES =
  '- Orders: { count: 600, period: 3h, ids: [gold] }\n- Orders: { unlimited: true, ids: [Infinity] }\n- Orders: { blocked: true, ids: [spammer] }\n';
export const TOKEN = '0123456789abcdef'.repeat(4);

/** A `sluice serve`, until the test ends. */
export async function service(options: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-serve-'));
  const controller = new AbortController();
  const check = join(folder, 'check.sock');
  const [limits = '', tables = '', overrides = ''] = written(LIMITS, TABLES, OVERRIDES);
  const args = ['serve', limits, tables, overrides, '--http', `unix:${check}`, '--trust', 'unix', ...options];
  const running = run(
    args.map((arg) => arg.replace('FOLDER', folder)),
    { interrupted: controller.signal, env },
  );
  const end = (): Promise<Ran> => {
    controller.abort();
    return running;
  };
  onTestFinished(async () => {
    await end();
    rmSync(folder, { recursive: true, force: true });
  });
  // It listens for metrics last.
  const metrics = join(folder, 'metrics.sock');
  const isThere = options.some((option) => option.startsWith('unix:')) ? metrics : check;
  await vi.waitFor(() => expect(existsSync(isThere)).toBe(true), 25_000);
  return { check, metrics: `serve:unix:${metrics}`, limits, overrides, end };
}

/** A `sluice serve` that answers operators on a unix socket, to which its user alone can connect. */
export const onSocket = () => service(['--metrics', 'unix:FOLDER/metrics.sock', '--operate']);

/** A `sluice serve` on a port, with a token in its environment. */
export async function onPort(options: readonly string[] = ['--operate']) {
  const port = await reservedPort();
  const served = await service(['--metrics', `127.0.0.1:${port}`, ...options], { SLUICE_OPERATOR_TOKEN: TOKEN });
  await vi.waitFor(async () => expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(200), 25_000);
  return { ...served, store: `serve:http://127.0.0.1:${port}`, port };
}

/** What a client is answered: 200, 429, or 403 if it is blocked. */
export function asked(socketPath: string, client: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-forwarded-for': client };
    const sent = request({ socketPath, path: '/check/api', headers, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode!));
    });
    sent.on('error', reject).end();
  });
}
