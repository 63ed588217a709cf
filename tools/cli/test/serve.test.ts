import { request } from 'node:http';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { written } from './files.ts';
import { run } from './run.ts';

const LIMITS = 'PerClient: { count: 2, period: 1h, idFormat: clientNetwork }\n';
const TABLES = 'http: { api: { limits: [{ limit: PerClient, id: address }] } }\n';

function ask(socketPath: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-forwarded-for': '203.0.113.7' };
    const sent = request({ socketPath, path: '/check/api', headers, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode!));
    });
    sent.on('error', reject).end();
  });
}

function socketFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-serve-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('sluice serve decides until Ctrl-C, says where it listens, and ends with 0 or the code of Ctrl-C', async () => {
  const [limits = '', tables = ''] = written(LIMITS, TABLES);
  const path = join(socketFolder(), 'check.sock');
  const controller = new AbortController();
  const running = run(['serve', limits, tables, '--http', `unix:${path}`], { interrupted: controller.signal });
  await vi.waitFor(() => expect(existsSync(path)).toBe(true), 25_000);
  expect([await ask(path), await ask(path), await ask(path)]).toEqual([200, 200, 429]);
  controller.abort();
  expect(await running).toMatchObject({ code: 130, out: `http listens on unix:${path}\n` });
});

test.each([
  [[], '`--http` and `--grpc` must be given'],
  [['--http', 'nowhere'], '`--http` must be an address with a port'],
  [['--http', '127.0.0.1:0', '--processes', '2'], '`--processes` needs `--redis`'],
  [['--http', '127.0.0.1:0', '--leases'], '`--leases` needs `--redis`'],
  [
    ['--http', '127.0.0.1:0', '--on-failure', 'shut'],
    "`--on-failure` must be one of local, open, closed, but was 'shut'",
  ],
  [['--http', '127.0.0.1:0', '--trust', 'all'], '`--trust` must be a network'],
])('sluice serve %s is wrong use', async (options, message) => {
  const [limits = '', tables = ''] = written(LIMITS, TABLES);
  const { code, err } = await run(['serve', limits, tables, ...options]);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) as string });
});

test('sluice serve does not start with a mistake in its files', async () => {
  const [limits = '', tables = ''] = written(LIMITS, 'http: { api: { limits: [{ limit: Other, id: address }] } }\n');
  const { code, err } = await run(['serve', limits, tables, '--http', '127.0.0.1:0']);
  expect({ code, err }).toEqual({
    code: 1,
    err: expect.stringContaining(`${tables}:1:34: \`Other\` is not`) as string,
  });
});

test('sluice check --tables checks both files', async () => {
  const budget = 'Tokens: { count: 100, period: 1h, maxDebt: 50, idFormat: accountId }\n';
  const [limits = '', tables = ''] = written(
    budget,
    'envoy: { models: { rules: [{ descriptor: [user], limit: Tokens }] } }\n',
  );
  const { code, out } = await run(['check', limits, '--tables', tables]);
  expect({ code, out }).toEqual({ code: 1, out: expect.stringContaining('must say `report: charge`') as string });
  const [right = ''] = written(
    'envoy: { models: { rules: [{ descriptor: [user], limit: Tokens, report: charge }] } }\n',
  );
  expect((await run(['check', limits, '--tables', right])).code).toBe(0);
});

test('sluice serve --print-fields prints what each table reads of the requests of proxies, and ends', async () => {
  const rules = [
    '{ limit: PerClient, id: address, methods: [POST] }',
    '{ limit: PerAccount, id: { header: X-Account-Id }, paths: [/orders] }',
    '{ limit: Everyone }',
  ];
  const [limits = '', tables = ''] = written(
    `${LIMITS}PerAccount: { count: 2, period: 1h, idFormat: by }\nEveryone: { count: 2, period: 1h, idFormat: everyone }\n`,
    `http: { api: { limits: [${rules.join(', ')}] }, all: { limits: [{ limit: Everyone }] }, hosts: { limits: [{ limit: PerAccount, id: host }] } }\n`,
  );
  const { code, out } = await run(['serve', limits, tables, '--print-fields']);
  const lines = [
    '/check/api: x-account-id x-forwarded-for x-forwarded-method x-forwarded-uri',
    '/check/all: none',
    '/check/hosts: x-forwarded-host',
  ];
  expect({ code, out }).toEqual({ code: 0, out: `${lines.join('\n')}\n` });
  const asJson = await run(['serve', limits, tables, '--print-fields', '--json', '--address-header', 'X-Real-IP']);
  expect(JSON.parse(asJson.out)).toEqual({
    fields: {
      api: ['x-account-id', 'x-forwarded-method', 'x-forwarded-uri', 'x-real-ip'],
      all: [],
      hosts: ['x-forwarded-host'],
    },
  });
});
