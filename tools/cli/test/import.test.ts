import { readFileSync } from 'node:fs';
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
  ['descriptors: []', 'standard input:1:1: `file.domain` must be text that is not empty'],
  ['domain: d\ndescriptors: [{ value: x }]', '.key` must be text that is not empty'],
  [
    'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: decade } }]',
    "must be one of second, minute, hour, day, week, month, year, but was 'decade'",
  ],
  ['domain: d\ndescriptors: [{ key: k }, { key: k }]', 'The key k is given twice with the same value.'],
  ['domain: d\ndescriptors: [{ key: k, ratelimit: {} }]', 'has no option `ratelimit`'],
  ['domain: d\ndescriptors: [{ key: a_b }, { key: a, value: b }]', 'The key a is given twice with the same value.'],
  ['domain: d\ndescriptors: [{ key: "a*" }]', "`descriptors[0].key` must have no *, but was 'a*'"],
  [
    'domain: d\ndescriptors: [{ key: k, value: a, share_threshold: true }]',
    '`descriptors[0].share_threshold` must be beside a value with a *',
  ],
  [
    'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: hour, requests_per_unit: 1_000 } }]',
    "`descriptors[0].rate_limit.requests_per_unit` must be a whole number from 0 to 4294967295, but was '1_000'.",
  ],
  [
    'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: hour, requests_per_unit: 010 } }]',
    'must be written in plain decimal digits',
  ],
  ['domain: d\ndescriptors: [{ key: k, shadow_mode: maybe }]', '`descriptors[0].shadow_mode` must be true or false'],
  [
    'domain: d\ndescriptors: [{ key: k, rate_limit: { name: A, unlimited: true, replaces: [{ name: A }] } }]',
    '`descriptors[0].rate_limit.replaces[].name` must not be that of the same limit, A.',
  ],
  [
    'domain: d\ndescriptors: [{ key: k, rate_limit: { unlimited: true, replaces: [{ name: }] } }]',
    '`descriptors[0].rate_limit.replaces[].name` must be text that is not empty',
  ],
  ['domain: d\n---\ndomain: e\ndescriptors: [k]', 'standard input:4:15: `descriptors[0]` must be a mapping of fields'],
  ['domain: d\n--- \n', 'The files have no descriptors of envoyproxy/ratelimit, so they limit nothing.'],
  ['kind: Service\nmetadata: { name: r }', 'so they limit nothing.\nstandard input: the Service r is left out'],
  ['---\n'.repeat(1001), 'The file must have at most 1000 documents, but has 1001.'],
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

/** The result of an import as a quota, with what it says. */
async function importedFrom(stdin: string) {
  const { code, err } = await run(['import', 'envoy', '-', '--as', 'window'], { stdin });
  if (err.startsWith('There')) return { code, err };
  return { code, err, ...((await runJson(['import', 'envoy', '-', '--as', 'window'], { stdin })) as object) };
}

const HOURLY = 'rate_limit: { unit: hour, requests_per_unit: 7 }';

test.each(['/users/*/orders', 'svc*ep*rpc', '*', '*.json', 'files/*'])(
  'each * of the value %s stays one, and all that fits it is counted apart',
  async (value) => {
    const stdin = `domain: d\ndescriptors: [{ key: k, value: '${value}', ${HOURLY} }]\n`;
    expect(await importedFrom(stdin)).toMatchObject({
      code: 0,
      err: '',
      tables: { envoy: { d: { rules: [{ descriptor: [{ k: value }], id: 'descriptor' }] } } },
    });
  },
);

test('values with a * inside share a counter by share_threshold', async () => {
  const stdin = `domain: d\ndescriptors: [{ key: k, value: 't*prod', share_threshold: true, descriptors: [{ key: u, ${HOURLY} }] }]\n`;
  expect(await importedFrom(stdin)).toMatchObject({ code: 0, tables: { envoy: { d: { rules: [{ id: ['u'] }] } } } });
});

test('an id that can not tell shared values from others of the same key is imported with a note', async () => {
  const stdin = `domain: d\ndescriptors: [{ key: f, value: 'a/*', share_threshold: true, descriptors: [{ key: f, value: 'b/*', ${HOURLY} }] }]\n`;
  expect(await importedFrom(stdin)).toMatchObject({
    code: 1,
    err: 'note: d.f_a/*.f_b/*: the values of both f are counted apart now, also those that shared a counter\n',
    tables: { envoy: { d: { rules: [{ id: ['f'] }] } } },
  });
});

test('metadata is left out with a note, if there is any', async () => {
  const of = (metadata: string) =>
    importedFrom(`domain: d\ndescriptors: [{ key: k, metadata: ${metadata}, ${HOURLY} }]\n`);
  expect(await of('{ service: { name: a, more: [1, 2.5] } }')).toMatchObject({
    code: 1,
    err: 'note: d.k: metadata is not sent to Envoy here\n',
  });
  expect(await of('{}')).toMatchObject({ code: 0, err: '' });
  expect(await of('~')).toMatchObject({ code: 0, err: '' });
  expect(await of('5')).toMatchObject({ code: 1, err: expect.stringContaining('must be a mapping') as string });
});

test('a limit of 0 is replaced by its name, and one that lets all pass needs no name', async () => {
  const stdin = `domain: d
descriptors:
  - { key: bar, rate_limit: { name: banned limit, unit: minute, requests_per_unit: 0 } }
  - { key: baz, rate_limit: { name: free, unlimited: true } }
  - key: vip
    rate_limit: { unit: hour, requests_per_unit: 2, replaces: [{ name: banned limit }, { name: free }, { name: banned limit }] }
`;
  expect(await importedFrom(stdin)).toMatchObject({
    code: 1,
    err: 'note: d.bar: its name banned limit is banned_limit now\n',
    tables: {
      envoy: {
        d: {
          rules: [
            { descriptor: ['bar'], blocked: true, name: 'banned_limit' },
            { descriptor: ['baz'], unlimited: true },
            { descriptor: ['vip'], replaces: ['banned_limit'] },
          ],
        },
      },
    },
  });
});

test('limits of one name are all replaced, and each gets a name of its own, with a note', async () => {
  const stdin = `domain: d
descriptors:
  - { key: a, rate_limit: { name: N, unit: hour, requests_per_unit: 1 } }
  - { key: b, rate_limit: { name: N, unit: hour, requests_per_unit: 0 } }
  - { key: c, rate_limit: { unlimited: true, replaces: [{ name: N }] } }
`;
  const found = await importedFrom(stdin);
  expect(found).toMatchObject({ code: 1, err: 'note: d.b: its name N is N-2 now\n' });
  expect(found).toMatchObject({ tables: { envoy: { d: { rules: [{}, {}, { replaces: ['N', 'N-2'] }] } } } });
});

test('a file as Envoy Gateway writes it has several documents, empty fields, and shadow_mode beside each descriptor', async () => {
  const switches = (shadow: boolean) =>
    `shadow_mode: ${shadow}, quota_mode: false, detailed_metric: false, value_to_metric: false, share_threshold: false`;
  const limit = (unit: string) => `{ requests_per_unit: 5, unit: ${unit}, unlimited: false, name: "", replaces: [] }`;
  const document = (domain: string, shadow: boolean) => `name: ${domain}
domain: ${domain}
descriptors:
  - key: route
    value: route
    rate_limit: null
    descriptors:
      - { key: rule-0-match-0, value: "", rate_limit: ${limit('SECOND')}, descriptors: [], ${switches(shadow)} }
    ${switches(shadow).replaceAll(', ', '\n    ')}
`;
  const stdin = `${document('ns/one', false)}---\n${document('two', true)}`;
  const rule = { descriptor: [{ route: 'route' }, 'rule-0-match-0'], id: 'descriptor' };
  expect(await importedFrom(stdin)).toMatchObject({
    code: 0,
    err: '',
    tables: { envoy: { 'ns/one': { rules: [rule] }, two: { rules: [{ ...rule, shadow: true }] } } },
  });
});

test('two files of one domain are one table, as with MERGE_DOMAIN_CONFIG', async () => {
  const [one = '', two = ''] = written(
    `domain: d\ndescriptors: [{ key: a, rate_limit: { name: A, unit: hour, requests_per_unit: 1 } }]\n`,
    `domain: d\ndescriptors: [{ key: b, rate_limit: { unlimited: true, replaces: [{ name: A }] } }]\n`,
  );
  const { code, out, err } = await run(['import', 'envoy', one, two, '--as', 'window', '--json']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(JSON.parse(out)).toMatchObject({
    tables: {
      envoy: {
        d: {
          rules: [
            { descriptor: ['a'], limit: 'A' },
            { descriptor: ['b'], replaces: ['A'] },
          ],
        },
      },
    },
  });
  expect(await run(['import', 'envoy', one, one, '--as', 'window'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('limits.yaml:2:15: The key a is given twice') as string,
  });
});

const CONFIG_MAP = `apiVersion: v1
kind: ConfigMap
metadata: { name: ratelimit-config }
data:
  config.yaml: |
    domain: d
    descriptors: [{ key: k, ${HOURLY} }]
`;

test('the files in ConfigMaps are imported, and what is beside them is named', async () => {
  const stdin = `${CONFIG_MAP}  statsd.conf: x\n  other.yaml: "mappings: []"\nbinaryData: {}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: { name: ratelimit }\n`;
  expect(await importedFrom(stdin)).toMatchObject({
    code: 1,
    err: [
      'standard input: statsd.conf of the ConfigMap ratelimit-config is left out: it is not YAML',
      'standard input: binaryData of the ConfigMap ratelimit-config is left out',
      'standard input: other.yaml of the ConfigMap ratelimit-config is left out: it has no domain and no descriptors',
      'standard input: the Deployment ratelimit is left out',
    ]
      .map((note) => `note: ${note}\n`)
      .join(''),
    limits: { 'd.k': { count: 7, per: 'hour' } },
  });
  const list = `apiVersion: v1\nkind: List\nitems:\n  - ${CONFIG_MAP.trimEnd().replaceAll('\n', '\n    ')}\n`;
  expect(await importedFrom(list)).toMatchObject({
    code: 0,
    err: '',
    limits: { 'd.k': { count: 7, per: 'hour' } },
  });
});

test('a mistake in a ConfigMap has its place there', async () => {
  const { code, err } = await importedFrom(CONFIG_MAP.replace('hour', 'decade'));
  expect({ code, err }).toMatchObject({
    code: 1,
    err: expect.stringContaining('standard input: config.yaml of the ConfigMap ratelimit-config:2:') as string,
  });
});

test.each([
  ['YAML with CRLF and a byte order mark', `\uFEFFdomain: d\r\ndescriptors:\r\n  - key: k\r\n    ${HOURLY}\r\n`],
  ['JSON with tabs', `{\n\t"domain": "d",\n\t"descriptors": [{ "key": "k", ${HOURLY} }]\n}`],
  ['a document with its marks', `---\n# ours\ndomain: d\ndescriptors: [{ key: k, ${HOURLY} }]\n...\n---\n`],
  [
    'aliases',
    `domain: d\ndescriptors: [{ key: a, rate_limit: &x { unit: hour, requests_per_unit: 7 } }, { key: k, rate_limit: *x }]\n`,
  ],
  [
    'merge keys',
    `domain: d\ndescriptors: [{ key: a, rate_limit: &x { unit: hour, requests_per_unit: 9 } }, { key: k, rate_limit: { <<: [*x, { unit: day }], requests_per_unit: 7 } }]\n`,
  ],
  [
    'the words of YAML 1.1',
    'domain: d\ndescriptors: [{ key: k, value: ~, shadow_mode: no, rate_limit: { unit: HOUR, requests_per_unit: 7 } }]\n',
  ],
])('%s is read', async (_, stdin) => {
  const found = await importedFrom(stdin);
  expect(found).toMatchObject({ code: 0, err: '', limits: { 'd.k': { count: 7, per: 'hour' } } });
});

test('a merge key that names no mapping is a mistake', async () => {
  const { code, err } = await importedFrom(`domain: d\ndescriptors: [{ key: k, rate_limit: { <<: 5, unit: hour } }]\n`);
  expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining('`<<` must be a mapping') as string });
});

test('hosts and methods that differ by case alone stay apart', async () => {
  const of = (key: string, values: readonly string[]) =>
    importedFrom(
      `domain: d\ndescriptors: [${values.map((value) => `{ key: ${key}, value: ${value}, ${HOURLY} }`).join(', ')}]\n`,
    );
  expect(await of('method', ['get', 'GET'])).toMatchObject({
    code: 0,
    tables: { envoy: { d: { keys: { method: 'text' } } } },
  });
  expect(await of('path', ['/a', '/A'])).not.toHaveProperty('tables.envoy.d.keys');
});

test.each([
  ['bucket', 'second', 16_000_000],
  ['window', 'second', 16_000_000],
  ['strict', 'minute', 960_000_000],
  ['window', 'hour', 3_600_000_000],
])('as %s, a number per %s that is too large becomes the largest, with a note', async (as, unit, most) => {
  const stdin = `domain: d\ndescriptors: [{ key: k, rate_limit: { unit: ${unit}, requests_per_unit: 4294967295 } }]\n`;
  const { code, err, out } = await run(['import', 'envoy', '-', '--as', as], { stdin });
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(`${most} now`) as string });
  expect(out).toContain(String(as === 'strict' ? most / 2 : most));
});

test('a window of a month may have as many requests as Envoy knows', async () => {
  const stdin = 'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: month, requests_per_unit: 4294967295 } }]\n';
  expect(await importedFrom(stdin)).toMatchObject({ limits: { 'd.k': { count: 4_294_967_295, per: 'month' } } });
});

test('files without a limit that counts are imported too, as files that check takes', async () => {
  const [limits = '', tables = ''] = written('', '');
  const stdin =
    'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 0 } }, { key: free }]\n';
  const { code } = await run(['import', 'envoy', '-', '--as', 'window', '--limits', limits, '--tables', tables], {
    stdin,
  });
  expect(code).toBe(0);
  expect(await run(['check', limits, '--tables', tables])).toMatchObject({ code: 0, out: '' });
});

test('what can not be imported is refused with the reason, and nothing is written', async () => {
  const [limits = '', tables = ''] = written('as it was', '');
  // Each rule repeats the whole path.
  const deep = (level: number): string =>
    `[{ key: k, value: ${'x'.repeat(level === 0 ? 60_000 : 1)}, ${HOURLY}, descriptors: ${level === 5 ? '[]' : deep(level + 1)} }]`;
  const stdin = `domain: d\ndescriptors: ${deep(0)}\n`;
  const call = ['import', 'envoy', '-', '--as', 'window', '--limits', limits, '--tables', tables];
  const { code, err } = await run(call, { stdin });
  expect({ code, err }).toEqual({
    code: 1,
    err: expect.stringMatching(
      /^The files can't be imported, because what they become is not valid:\n.*larger than/,
    ) as string,
  });
  expect(readFileSync(limits, 'utf8')).toBe('as it was');
});
