import { expect, test } from 'vitest';
import { written } from './files.ts';
import { run, runJson } from './run.ts';

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

test('shadow_mode without a limit beside it is left out with a note, because it has no effect there', async () => {
  const stdin = `domain: d
descriptors:
  - key: path
    shadow_mode: true
    descriptors:
      - { key: user, rate_limit: { unit: hour, requests_per_unit: 7 } }
  - { key: plan, shadow_mode: true }
`;
  const { code, out, err } = await run(['import', 'envoy', '-', '--as', 'window'], { stdin });
  const cause = 'shadow_mode has no effect without a rate_limit beside it';
  const remedy = 'write it beside each limit that only counts';
  expect({ code, err }).toEqual({
    code: 1,
    err: `note: d.path: ${cause}, and the limits below it deny; ${remedy}\nnote: d.plan: ${cause}; ${remedy}\n`,
  });
  expect(out).not.toContain('shadow');
});

test.each([
  [
    'requests-of-each-organization-member-to-the-payments-backend',
    'requests-of-each-organization-member-to-the-payments',
  ],
  ['limit-of-each-organization-member-for-all-of-payments-v2', 'limit-of-each-organization-member-for-all-of-payments'],
  ['x'.repeat(70), 'x'.repeat(54)],
  ['per client', 'per_client'],
  ['2fa', 'Limit_2fa'],
])('the name %s of a limit becomes %s, with a note', async (name, expected) => {
  const stdin = `domain: d\ndescriptors: [{ key: k, rate_limit: { unit: hour, requests_per_unit: 7, name: ${name} } }]\n`;
  const { code, out, err } = await run(['import', 'envoy', '-', '--as', 'window'], { stdin });
  expect({ code, err }).toEqual({ code: 1, err: `note: d.k: its name ${name} is ${expected} now\n` });
  expect(out).toContain(`limit: ${expected}\n`);
});

test('of a long path the name of a limit is the end, from a whole word on, and neighbours stay apart', async () => {
  const limit = 'rate_limit: { unit: hour, requests_per_unit: 7 }';
  const path = (value: string): string =>
    `{ key: path, value: ${value}, ${limit}, descriptors: [{ key: account_id, ${limit} }] }`;
  const paths = ['/v1/organizations/members/invitations/pending', '/v1/organizations/members/invitations/accepted'];
  const stdin = `domain: storefront-edge\ndescriptors: [${paths.map(path).join(', ')}]\n`;
  const { limits } = (await runJson(['import', 'envoy', '-', '--as', 'window'], { stdin })) as { limits: object };
  expect(Object.keys(limits)).toEqual([
    'path__v1_organizations_members_invitations_pending',
    'organizations_members_invitations_pending.account_id',
    'path__v1_organizations_members_invitations_accepted',
    'organizations_members_invitations_accepted.account_id',
  ]);
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
  const [limits = '', tables = ''] = written('', '');
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
