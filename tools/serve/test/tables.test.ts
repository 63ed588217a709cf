import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { checkTableFiles, openService, TABLES_SCHEMA } from '@sluice/serve';

const LIMITS = `
PerClient: { count: 2, period: 1s, idFormat: clientNetwork }
Everyone: { count: 4, period: 1m, idFormat: everyone }
Tokens: { count: 100, period: 1h, maxDebt: 50, idFormat: accountId }
InFlight: { concurrency: 3, idFormat: accountId }
Queue: { burst: 1, count: 1, period: 1s, maxWait: 2s, idFormat: accountId }
Nameless: { count: 1, period: 1s }
`;

const http = (rest: string) => `http: { api: { ${rest} } }`;
const envoy = (rule: string) => `envoy: { ingress: { rules: [${rule}] } }`;

/** Texts with the problem that each has. What the schema also rejects is marked. */
const PROBLEMS: readonly [tables: string, problem: string, inSchema: boolean][] = [
  ['', 'tables:1:1: The tables file is empty.', true],
  ['[]', 'tables:1:1: The tables file must be a mapping with http, envoy, or both, but was a list.', true],
  ['{}', 'tables:1:1: The tables file has no table.', true],
  ['http: []', 'tables:1:7: `tables.http` must be a mapping of tables by name, but was a list.', true],
  ['htpp: {}', 'tables:1:1: `tables` has no option `htpp`', true],
  [
    'http: { "a/b": { limits: [{ limit: Everyone }] } }',
    'tables:1:9: The name of a table must have 1 to 64 of the characters',
    true,
  ],
  [http('limits: []'), 'tables:1:24: `http.api.limits` must be a list that is not empty, but was []', true],
  [
    http('limits: [Everyone]'),
    "tables:1:25: `http.api.limits[0]` must be a mapping of fields, but was 'Everyone'.",
    true,
  ],
  [http('shadow: true'), 'tables:1:14: `http.api.limits` must be a list that is not empty', true],
  [http('limits: [{ id: address }]'), 'tables:1:25: `http.api.limits[0].limit` must be the name of a limit', true],
  [
    http('limits: [{ limit: Other }]'),
    'tables:1:34: `Other` is not the name of a limit. Limits: PerClient, Everyone',
    false,
  ],
  [http('limits: [{ limit: PerClient }]'), 'tables:1:25: `id` must be given for the limit `PerClient`', false],
  [
    http('limits: [{ limit: Everyone, id: address }]'),
    'tables:1:48: `id` must be left out for the limit `Everyone`',
    false,
  ],
  [
    http('limits: [{ limit: PerClient, id: adress }]'),
    "tables:1:49: `http.api.limits[0].id` must be address, host, method, path, or { header: name }, but was 'adress'.",
    true,
  ],
  [
    http('limits: [{ limit: PerClient, id: { header: "a b" } }]'),
    'tables:1:49: `http.api.limits[0].id` must be address',
    true,
  ],
  [
    http('limits: [{ limit: Everyone, cost: 0 }]'),
    'tables:1:50: `http.api.limits[0].cost` must be a whole number from 1',
    true,
  ],
  [
    http('limits: [{ limit: Everyone, cost: 5 }]'),
    'tables:1:50: `cost` must be at most the burst of the limit `Everyone`, which is 4, but was 5.',
    false,
  ],
  [http('limits: [{ limit: Everyone, methods: [get] }]'), 'a list of methods in upper case', true],
  [http('limits: [{ limit: Everyone, paths: ["*/x"] }]'), 'a list of paths that begin with /', true],
  [
    http('fields: draft-8, limits: [{ limit: Everyone }]'),
    "tables:1:24: `http.api.fields` must be one of draft-11, draft-7, draft-6, legacy, or false, but was 'draft-8'.",
    true,
  ],
  [
    http('caseInsensitive: "yes", limits: [{ limit: Everyone }]'),
    '`http.api.caseInsensitive` must be true or false',
    true,
  ],
  [
    'envoy: { ingress: { keys: { uri: url }, rules: [{ descriptor: [a], blocked: true }] } }',
    'tables:1:27: `envoy.ingress.keys` must be a mapping of keys to path, host, method, text',
    true,
  ],
  [
    'envoy: { ingress: { keys: [uri], rules: [{ descriptor: [a], blocked: true }] } }',
    'tables:1:27: `envoy.ingress.keys` must be a mapping of keys to path, host, method, text',
    true,
  ],
  [
    envoy(
      '{ descriptor: [{ host: A.example }], blocked: true }, { descriptor: [{ host: a.example. }], unlimited: true }',
    ),
    'has the descriptor of an earlier rule: host=a.example.. Keep one of the two.',
    false,
  ],
  [
    http('accelRedirect: backend, limits: [{ limit: Everyone }]'),
    '`http.api.accelRedirect` must be a named location or a path of nginx',
    true,
  ],
  [
    http('limits: [{ limit: InFlight, id: address }]'),
    "tables:1:34: The limit `InFlight` can't be in a table: a service that a proxy asks does not see when a request ends.",
    false,
  ],
  [
    http('limits: [{ limit: Queue, id: address }]'),
    "The limit `Queue` can't be in a table: a proxy does not wait",
    false,
  ],
  [
    http('limits: [{ limit: Nameless, id: address }]'),
    "The limit `Nameless` can't be in a table: it has no idFormat",
    false,
  ],
  [
    envoy('{ limit: PerClient }'),
    'tables:1:29: `envoy.ingress.rules[0].descriptor` must be a list that is not empty',
    true,
  ],
  [envoy('{ descriptor: [a] }'), 'must have one of limit, unlimited and blocked, but has none of them.', true],
  [envoy('{ descriptor: [a], limit: PerClient, blocked: true }'), 'but has limit and blocked.', false],
  [
    envoy('{ descriptor: [a], unlimited: false }'),
    '`envoy.ingress.rules[0].unlimited` must be true, or left out, but was false.',
    true,
  ],
  [
    envoy('{ descriptor: [{ a: 1, b: 2 }], blocked: true }'),
    'tables:1:44: `envoy.ingress.rules[0].descriptor[0]` must be the key of an entry, or a key with its value, but was a mapping.',
    true,
  ],
  [
    envoy('{ descriptor: [a], limit: PerClient, id: [b] }'),
    "`envoy.ingress.rules[0].id` must name keys of its descriptor (a), but names 'b'.",
    false,
  ],
  [envoy('{ descriptor: [a], limit: PerClient, id: all }'), 'must be a list of keys, rule or descriptor', true],
  [
    envoy('{ descriptor: [a], limit: PerClient, report: later }'),
    "must be 'spend' or 'charge', but was 'later'.",
    true,
  ],
  [envoy('{ descriptor: [a], limit: PerClient, replaces: [Other] }'), '`Other` is not the name of a limit.', false],
  [
    envoy('{ descriptor: [a], blocked: true, name: Everyone }'),
    "tables:1:69: `name` must not be that of a limit, but was 'Everyone'. Choose another.",
    false,
  ],
  [
    envoy('{ descriptor: [a], limit: PerClient, name: Mine }'),
    '`envoy.ingress.rules[0].name` must be left out without blocked',
    false,
  ],
  [
    envoy('{ descriptor: [a], blocked: true, name: "a b" }'),
    '`envoy.ingress.rules[0].name` must be a letter followed by letters',
    true,
  ],
  [
    envoy('{ descriptor: [a], limit: PerClient }, { descriptor: [a], blocked: true }'),
    'has the descriptor of an earlier rule: a=*. Keep one of the two.',
    false,
  ],
  [
    envoy('{ descriptor: [user], limit: Tokens }'),
    'Its rule must say `report: charge`: Envoy ignores the answer to such a report',
    false,
  ],
  [
    `${http('limits: [{ limit: Everyone }]')}\nonFailure: { Everyone: shut }`,
    "tables:2:24: `onFailure.Everyone` must be 'local' or 'open' or 'closed', but was 'shut'.",
    true,
  ],
  [
    `${http('limits: [{ limit: Everyone }]')}\nonFailure: { Other: open }`,
    'tables:2:14: `Other` is not the name of a limit.',
    false,
  ],
];

test.each(PROBLEMS)('the tables %s have a problem with its place', async (tables, problem) => {
  const problems = await checkTableFiles({ limits: () => LIMITS, tables: () => tables });
  expect(problems.map(({ text }) => text).join('\n')).toContain(problem);
  expect(problems).toHaveLength(1);
  await expect(openService({ limits: () => LIMITS, tables: () => tables, log: false })).rejects.toMatchObject({
    code: 'ERR_LIMIT_FILES',
    message: expect.stringContaining(problem) as string,
  });
});

const GOOD = [
  http('caseInsensitive: true, limits: [{ limit: Everyone, caseInsensitive: false }]'),
  'envoy: { ingress: { caseInsensitive: true, keys: { a: path, b: host, c: method, d: text }, rules: [{ descriptor: [a], blocked: true }] } }',
  envoy('{ descriptor: [{ path: /a }], blocked: true }, { descriptor: [{ path: /a/ }], limit: PerClient }'),
  http('limits: [{ limit: PerClient, id: address, methods: [GET], paths: [/a/*] }, { limit: Everyone, cost: 4 }]'),
  http('accelRedirect: "@backend", fields: false, shadow: true, limits: [{ limit: PerClient, id: { header: X-Key } }]'),
  envoy('{ descriptor: [{ path: "/a*" }, code], limit: PerClient, id: [code], replaces: [Everyone] }'),
  envoy(
    '{ descriptor: [{ path: "/a/*/b*c" }, code], limit: PerClient }, { descriptor: [{ path: "/a/*/b" }], blocked: true }',
  ),
  envoy(
    '{ descriptor: [a], blocked: true, name: Shut }, { descriptor: [b], limit: PerClient, replaces: [Shut, Everyone] }',
  ),
  envoy('{ descriptor: [{ code: 200 }], unlimited: true }, { descriptor: [user], limit: Tokens, report: spend }'),
  `${envoy('{ descriptor: [a], blocked: true, shadow: true }')}\nonFailure: { Tokens: closed }`,
];

test.each(GOOD)('the tables %s have no problem', async (tables) => {
  expect(await checkTableFiles({ limits: () => LIMITS, tables: () => tables })).toEqual([]);
});

test('the schema for editors is that of the package, and judges as the loader does', () => {
  const file = new URL('../schema/tables.schema.json', import.meta.url);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(TABLES_SCHEMA)));
  const validate = new Ajv({ strict: false }).compile(TABLES_SCHEMA);
  for (const tables of GOOD) expect([tables, validate(parse(tables)), validate.errors]).toEqual([tables, true, null]);
  for (const [tables, , inSchema] of PROBLEMS) expect([tables, validate(parse(tables))]).toEqual([tables, !inSchema]);
});

test('problems of the limits and of the tables are reported together', async () => {
  const opened = openService({ limits: () => 'A: { count: 0, period: 1s }', tables: () => 'http: 1', log: false });
  await expect(opened).rejects.toThrow(/defaults:1:13[^]*tables:1:7/);
});

test('a file of tables above 256 KiB is rejected', async () => {
  const tables = `${http('limits: [{ limit: Everyone }]')}\n#${'x'.repeat(262_144)}`;
  const problems = await checkTableFiles({ limits: () => LIMITS, tables: () => tables });
  expect(problems.at(0)?.text).toContain('larger than 262144 bytes');
});

test('tables that are not UTF-8 are rejected at the place', async () => {
  const problems = await checkTableFiles({
    limits: () => LIMITS,
    tables: () => Buffer.from('http:\n  \xff', 'latin1'),
  });
  expect(problems.map(({ text }) => text)).toEqual([expect.stringMatching(/^tables:2:3: .*not valid UTF-8/)]);
});
