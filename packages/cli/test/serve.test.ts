import { request } from 'node:http';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { written } from './files.ts';
import { run, runJson } from './run.ts';

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

const RATELIMIT = `
domain: ingress
descriptors:
  - key: remote_address
    rate_limit: { unit: minute, requests_per_unit: 5, name: PerClient }
  - key: plan
    value: gold
    rate_limit: { unlimited: true, replaces: [{ name: PerClient }] }
  - key: plan
    value: none
    shadow_mode: true
    rate_limit: { unit: hour, requests_per_unit: 0 }
  - key: path
    value: /api/*
    share_threshold: true
    descriptors:
      - key: user
        detailed_metric: true
        rate_limit: { unit: month, requests_per_unit: 9 }
      - key: user
        value: ada
`;

test('sluice import envoy keeps the rules, and says what is not the same', async () => {
  const { code, err } = await run(['import', 'envoy', '-', '--as', 'window'], { stdin: RATELIMIT });
  expect(code).toBe(1);
  expect(err).toBe(
    'note: ingress.path_/api/*.user: detailed_metric has no meaning here\n' +
      'note: ingress.path_/api/*.user: it has windows of 30 days since 1970, and counts calendar months in UTC now\n',
  );
  expect(await runJson(['import', 'envoy', '-', '--as', 'window'], { stdin: RATELIMIT })).toMatchObject({
    limits: {
      PerClient: { count: 5, per: 'minute', idFormat: 'by' },
      'ingress.path__api_.user': { count: 9, per: 'month', idFormat: 'by' },
    },
    tables: {
      envoy: {
        ingress: {
          rules: [
            { descriptor: ['remote_address'], limit: 'PerClient', id: 'descriptor' },
            { descriptor: [{ plan: 'gold' }], unlimited: true, replaces: ['PerClient'] },
            { descriptor: [{ plan: 'none' }], blocked: true, shadow: true },
            { descriptor: [{ path: '/api/*' }, 'user'], limit: 'ingress.path__api_.user', id: ['user'] },
            { descriptor: [{ path: '/api/*' }, { user: 'ada' }], unlimited: true },
          ],
        },
      },
    },
  });
});

test('a limit with quota_mode is imported as one that denies, with a note', async () => {
  const stdin =
    'domain: d\ndescriptors: [{ key: k, quota_mode: true, rate_limit: { unit: hour, requests_per_unit: 7 } }]\n';
  const { code, out, err } = await run(['import', 'envoy', '-', '--as', 'window'], { stdin });
  expect({ code, err }).toEqual({
    code: 1,
    err: 'note: d.k: quota_mode is not supported: the limit denies as any other now; for one that only counts, set shadow: true\n',
  });
  expect(out).toContain('limit: d.k');
});

test.each(['quotaMode', 'quota_mode', 'firstOf'])('a table that asks for %s is refused', async (field) => {
  const [limits = '', tables = ''] = written(
    'Daily: { count: 5, per: day, idFormat: by }\n',
    `envoy: { ingress: { rules: [{ descriptor: [user], limit: Daily, ${field}: true }] } }\n`,
  );
  const { code, out } = await run(['check', limits, '--tables', tables]);
  expect({ code, out }).toEqual({ code: 1, out: expect.stringContaining(`has no option \`${field}\``) as string });
});

test('descriptors and limits that are null are left out, as in the other service', async () => {
  const stdin = 'domain: d\ndescriptors: [{ key: a, rate_limit: null, descriptors: null }]\n';
  expect(await runJson(['import', 'envoy', '-', '--as', 'window'], { stdin })).toMatchObject({
    tables: { envoy: { d: { rules: [{ descriptor: ['a'], unlimited: true }] } } },
  });
});

test.each([
  ['window', { count: 7, per: 'second' }],
  ['bucket', { burst: 7, count: 7, period: '1s' }],
  ['strict', { burst: 4, count: 3, period: '1s' }],
])('as %s, 7 per second are %o', async (as, numbers) => {
  const stdin = 'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: second, requests_per_unit: 7 } }]\n';
  expect(await runJson(['import', 'envoy', '-', '--as', as], { stdin })).toMatchObject({
    limits: { 'd.k': { ...numbers, idFormat: 'by' } },
  });
});

test('the files that are imported are those that serve and check take', async () => {
  const folder = socketFolder();
  const [limits, tables] = [join(folder, 'limits.yaml'), join(folder, 'tables.yaml')];
  await run(['import', 'envoy', '-', '--as', 'bucket', '--limits', limits, '--tables', tables], { stdin: RATELIMIT });
  expect(await run(['check', limits, '--tables', tables])).toMatchObject({ code: 0, out: '' });
});

test.each([
  ['descriptors: []', 'file:1:1: `file.domain` must be text that is not empty'],
  ['domain: d\ndescriptors: [{ value: x }]', '.key` must be text that is not empty'],
  [
    'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: decade } }]',
    "must be one of second, minute, hour, day, week, month, year, but was 'decade'",
  ],
  ['domain: d\ndescriptors: [{ key: k }, { key: k }]', 'The key k is given twice with the same value.'],
  ['domain: d\ndescriptors: [{ key: k, ratelimit: {} }]', 'has no option `ratelimit`'],
  ['domain: d\ndescriptors: { key: k }', '`descriptors` must be a list of descriptors'],
  ['domain: d\ndescriptors: [k]', '`descriptors[0]` must be a mapping of fields'],
  ['domain: d\ndescriptors: [{ key: k, value: [a] }]', '`descriptors[0].value` must be text'],
  ['domain: d\ndescriptors: [{ key: k, rate_limit: 5 }]', '`descriptors[0].rate_limit` must be a mapping'],
  [
    'domain: d\ndescriptors: [{ key: k, rate_limit: { unlimited: true, unit: hour } }]',
    '`descriptors[0].rate_limit.unit` must be left out beside unlimited',
  ],
  [
    'domain: d\ndescriptors: [{ key: k, rate_limit: { unlimited: true, replaces: { name: A } } }]',
    '`descriptors[0].rate_limit.replaces` must be a list of names',
  ],
  [
    'domain: d\ndescriptors: [{ key: k, rate_limit: { unlimited: true, replaces: [A] } }]',
    '`descriptors[0].rate_limit.replaces[]` must be a mapping with a name',
  ],
])('the file %s has a mistake', async (stdin, message) => {
  const { code, err } = await run(['import', 'envoy', '-', '--as', 'window'], { stdin });
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(message) as string });
});

test.each([
  [['import', 'nginx', '-', '--as', 'window'], "The service must be envoy, but was 'nginx'."],
  [['import', 'envoy', '-'], '`--as` must be one of window, bucket, strict.'],
])('sluice %s is wrong use', async (args, message) => {
  const { code, err } = await run(args, { stdin: RATELIMIT });
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) as string });
});
