import { expect, test } from 'vitest';
import { descriptor, envoyOf, type Envoy } from '../../../test/service/envoy.ts';
import { metricLines, served, type Served } from '../../../test/service/served.ts';

const LIMITS = `
PerClient: { burst: 2, count: 1, period: 1s, idFormat: clientNetwork }
Logins: { count: 3, period: 1m, idFormat: by }
Tokens: { count: 100, period: 1h, maxDebt: 50, idFormat: accountId }
Daily: { count: 5, per: day, idFormat: by }
Weekly: { count: 5, per: week, idFormat: by }
Monthly: { count: 5, per: month, idFormat: by }
Yearly: { count: 5, per: year, idFormat: by }
Money: { count: 1000000000000, per: month, idFormat: by }
Odd: { burst: 7, count: 5, period: 90s, idFormat: by }
Secret: { count: 1, period: 1s, idFormat: by, hidden: true }
`;
const TABLES = `
envoy:
  ingress:
    rules:
      - { descriptor: [remote_address], limit: PerClient }
      - { descriptor: [{ path: /login }, user], limit: Logins }
      - { descriptor: [{ path: "/log*" }], limit: Daily, id: rule }
      - { descriptor: [user], limit: Tokens, report: charge }
      - { descriptor: [{ plan: gold }], unlimited: true }
      - { descriptor: [{ plan: stolen }], blocked: true }
      - { descriptor: [plan], limit: Daily, replaces: [PerClient] }
      - { descriptor: [{ plan: banned }], blocked: true, name: Banned }
      - { descriptor: [vip], limit: Daily, replaces: [Banned] }
      - { descriptor: [dark], limit: Secret }
      - { descriptor: [week], limit: Weekly }
      - { descriptor: [month], limit: Monthly }
      - { descriptor: [year], limit: Yearly }
      - { descriptor: [odd], limit: Odd }
      - { descriptor: [money], limit: Money }
      - { descriptor: [tried], limit: Daily, shadow: true }
`;

interface ListField {
  readonly listValue: { readonly values: readonly { readonly stringValue: string }[] };
}

async function ingress(options = {}): Promise<Served & { readonly envoy: Envoy }> {
  const all = await served(LIMITS, TABLES, options);
  return { ...all, envoy: envoyOf(all.servers.ports.grpc) };
}

const client = descriptor({ remote_address: '203.0.113.7' });

test('an allowed request is answered with the limit, what remains, our fields and the metadata', async () => {
  const { envoy } = await ingress();
  const answer = await envoy.ask({ domain: 'ingress', descriptors: [client] });
  expect(answer.overall_code).toBe('OK');
  expect(answer.statuses).toEqual([
    {
      code: 'OK',
      current_limit: { requests_per_unit: 1, unit: 'SECOND', name: 'PerClient' },
      limit_remaining: 1,
      duration_until_reset: { seconds: 1, nanos: 0 },
    },
  ]);
  expect(answer.response_headers_to_add).toEqual([
    { key: 'RateLimit-Policy', value: '"PerClient";q=2;w=2' },
    { key: 'RateLimit', value: '"PerClient";r=1;t=1' },
  ]);
  expect(answer.raw_body.toString()).toBe('');
  expect(answer.dynamic_metadata!.fields['limit']).toMatchObject({ stringValue: 'PerClient' });
});

test('a denied status carries the exact wait, and the body is problem details', async () => {
  const { envoy, time } = await ingress();
  await envoy.ask({ domain: 'ingress', descriptors: [client], hits_addend: 2 });
  time.advance(250);
  const answer = await envoy.ask({ domain: 'ingress', descriptors: [client] });
  expect(answer.overall_code).toBe('OVER_LIMIT');
  expect(answer.statuses[0]).toMatchObject({
    code: 'OVER_LIMIT',
    duration_until_reset: { seconds: 0, nanos: 750_000_000 },
  });
  expect(JSON.parse(answer.raw_body.toString())).toMatchObject({ status: 429, 'violated-policies': ['PerClient'] });
  const fields = Object.fromEntries(answer.response_headers_to_add.map(({ key, value }) => [key, value]));
  expect(fields).toMatchObject({ 'Retry-After': '1', 'Content-Type': 'application/problem+json' });
  time.advance(750);
  expect((await envoy.ask({ domain: 'ingress', descriptors: [client] })).overall_code).toBe('OK');
});

test('all descriptors are one decision: a denial by one takes nothing from the others', async () => {
  const { envoy } = await ingress();
  const login = descriptor({ path: '/login', user: 'ada' });
  await envoy.ask({ domain: 'ingress', descriptors: [client], hits_addend: 2 });
  const denied = await envoy.ask({ domain: 'ingress', descriptors: [login, client] });
  expect(denied.statuses.map(({ code }) => code)).toEqual(['OK', 'OVER_LIMIT']);
  const alone = await envoy.ask({ domain: 'ingress', descriptors: [login] });
  expect(alone.statuses.at(0)!.limit_remaining).toBe(2);
});

test('an unknown domain and an unknown descriptor pass, with as many statuses as descriptors', async () => {
  const { envoy } = await ingress();
  const elsewhere = await envoy.ask({ domain: 'elsewhere', descriptors: [client, client] });
  expect(elsewhere).toMatchObject({ overall_code: 'OK', statuses: [{ code: 'OK' }, { code: 'OK' }] });
  const unknown = [
    descriptor({ other: 'x' }),
    descriptor({ path: '/login' }),
    descriptor({ path: '/login', other: 'x' }),
  ];
  const answer = await envoy.ask({ domain: 'ingress', descriptors: unknown });
  // Each entry chooses its branch: that of /login, which has no rule for the path alone.
  expect(answer.statuses.map((status) => status.current_limit?.name)).toEqual([undefined, undefined, undefined]);
});

test('a request without a domain or descriptors is an error, and one with more than 64, or entries, is denied', async () => {
  const { envoy, service } = await ingress();
  await expect(envoy.ask({ domain: '', descriptors: [client] })).rejects.toMatchObject({ code: 3 });
  await expect(envoy.ask({ domain: 'ingress', descriptors: [] })).rejects.toMatchObject({ code: 3 });
  const many = Array.from({ length: 65 }, () => descriptor({ other: 'x' }));
  const denied = await envoy.ask({ domain: 'ingress', descriptors: many });
  expect(denied).toMatchObject({ overall_code: 'OVER_LIMIT', statuses: [] });
  expect(JSON.parse(denied.raw_body.toString())).toMatchObject({ status: 429 });
  expect(metricLines(service)).toContain('sluice_serve_answers_total{table="envoy",outcome="invalid"} 1');
  const entries = Array.from({ length: 65 }, () => ({ key: 'other', value: 'x' }));
  expect((await envoy.ask({ domain: 'ingress', descriptors: [{ entries }] })).overall_code).toBe('OVER_LIMIT');
  expect((await envoy.ask({ domain: 'ingress', descriptors: many.slice(1) })).statuses).toHaveLength(64);
});

test('an addend that is set to 0 looks, and takes nothing', async () => {
  const { envoy } = await ingress();
  const look = { ...client, hits_addend: { value: 0 } };
  for (let i = 0; i < 5; i++) {
    expect((await envoy.ask({ domain: 'ingress', descriptors: [look] })).statuses.at(0)!.limit_remaining).toBe(2);
  }
  await envoy.ask({ domain: 'ingress', descriptors: [client], hits_addend: 2 });
  expect((await envoy.ask({ domain: 'ingress', descriptors: [look] })).overall_code).toBe('OVER_LIMIT');
});

test('the addend of a descriptor comes before that of the request, whose 0 is 1', async () => {
  const { envoy } = await ingress();
  const user = descriptor({ path: '/login', user: 'ada' });
  const first = await envoy.ask({
    domain: 'ingress',
    descriptors: [{ ...user, hits_addend: { value: 2 } }],
    hits_addend: 3,
  });
  expect(first.statuses.at(0)!.limit_remaining).toBe(1);
  const second = await envoy.ask({ domain: 'ingress', descriptors: [user], hits_addend: 0 });
  expect(second.statuses.at(0)!.limit_remaining).toBe(0);
});

test('negative hits give tokens back, never above a full bucket', async () => {
  const { envoy } = await ingress();
  const user = descriptor({ path: '/login', user: 'ada' });
  await envoy.ask({ domain: 'ingress', descriptors: [user], hits_addend: 2 });
  const back = { ...user, is_negative_hits: true };
  expect((await envoy.ask({ domain: 'ingress', descriptors: [back] })).statuses.at(0)!.limit_remaining).toBe(2);
  expect(
    (await envoy.ask({ domain: 'ingress', descriptors: [back], hits_addend: 9 })).statuses.at(0)!.limit_remaining,
  ).toBe(3);
});

test('two checks of one bucket are denied only if one hit does not fit', async () => {
  const { envoy } = await ingress();
  await envoy.ask({ domain: 'ingress', descriptors: [client] });
  const look = { ...client, hits_addend: { value: 0 } };
  expect((await envoy.ask({ domain: 'ingress', descriptors: [look, look] })).overall_code).toBe('OK');
  await envoy.ask({ domain: 'ingress', descriptors: [client] });
  expect((await envoy.ask({ domain: 'ingress', descriptors: [look, look] })).overall_code).toBe('OVER_LIMIT');
});

test('report: charge takes usage whether it fits or not, up to the debt, and never denies the report', async () => {
  const { envoy, time } = await ingress();
  const usage = (tokens: number) => descriptor({ user: 'ada' }, { hits_addend: { value: tokens } });
  expect((await envoy.ask({ domain: 'ingress', descriptors: [usage(0)] })).overall_code).toBe('OK');
  expect((await envoy.ask({ domain: 'ingress', descriptors: [usage(140)] })).overall_code).toBe('OK');
  const after = await envoy.ask({ domain: 'ingress', descriptors: [usage(0)] });
  expect(after).toMatchObject({ overall_code: 'OVER_LIMIT' });
  // 40 tokens of debt, and one to be there: 41 of 100 an hour.
  expect(after.statuses.at(0)!.duration_until_reset).toEqual({ seconds: 1476, nanos: 0 });
  time.advance(1_476_000);
  expect((await envoy.ask({ domain: 'ingress', descriptors: [usage(0)] })).overall_code).toBe('OK');
});

test('usage is charged also when another descriptor of the same call is over its limit', async () => {
  const { envoy } = await ingress();
  await envoy.ask({ domain: 'ingress', descriptors: [client], hits_addend: 2 });
  const usage = descriptor({ user: 'ada' }, { hits_addend: { value: 30 } });
  expect((await envoy.ask({ domain: 'ingress', descriptors: [client, usage] })).overall_code).toBe('OVER_LIMIT');
  const look = descriptor({ user: 'ada' }, { hits_addend: { value: 0 } });
  expect((await envoy.ask({ domain: 'ingress', descriptors: [look] })).statuses.at(0)!.limit_remaining).toBe(70);
});

test('what one call charges and gives back to one bucket is one change, in either order', async () => {
  const { envoy } = await ingress();
  const usage = (tokens: number) => descriptor({ user: 'ada' }, { hits_addend: { value: tokens } });
  const back = { ...usage(30), is_negative_hits: true };
  const look = async (): Promise<number> =>
    (await envoy.ask({ domain: 'ingress', descriptors: [usage(0)] })).statuses.at(0)!.limit_remaining;
  // A full bucket: 30 that are given back first would be lost.
  expect((await envoy.ask({ domain: 'ingress', descriptors: [back, usage(50)] })).overall_code).toBe('OK');
  expect(await look()).toBe(80);
  expect((await envoy.ask({ domain: 'ingress', descriptors: [usage(10), back] })).overall_code).toBe('OK');
  expect(await look()).toBe(100);
  // At the largest debt: 30 that are charged first would be lost.
  await envoy.ask({ domain: 'ingress', descriptors: [usage(1000)] });
  await envoy.ask({ domain: 'ingress', descriptors: [usage(30), back] });
  await envoy.ask({ domain: 'ingress', descriptors: [{ ...usage(51), is_negative_hits: true }] });
  expect(await look()).toBe(1);
});

test('addends of one bucket whose sum is above the largest cost are denied, or charged up to the debt', async () => {
  const { envoy } = await ingress();
  const largest = { hits_addend: { value: 1_000_000_000 } };
  const clients = [
    { ...client, ...largest },
    { ...client, ...largest },
  ];
  expect((await envoy.ask({ domain: 'ingress', descriptors: clients })).overall_code).toBe('OVER_LIMIT');
  const user = descriptor({ user: 'ada' }, largest);
  expect((await envoy.ask({ domain: 'ingress', descriptors: [user, user] })).overall_code).toBe('OK');
  const back = { ...user, is_negative_hits: true };
  expect((await envoy.ask({ domain: 'ingress', descriptors: [back, back] })).overall_code).toBe('OK');
});

test('two descriptors of one bucket must fit together', async () => {
  const { envoy } = await ingress();
  const both = await envoy.ask({ domain: 'ingress', descriptors: [client, client] });
  expect(both.statuses.map(({ limit_remaining }) => limit_remaining)).toEqual([0, 0]);
  const network = [
    descriptor({ remote_address: '2001:db8:7:1::1' }),
    descriptor({ remote_address: '2001:db8:7:2::2' }),
  ];
  await envoy.ask({ domain: 'ingress', descriptors: network });
  expect((await envoy.ask({ domain: 'ingress', descriptors: [network.at(0)!] })).overall_code).toBe('OVER_LIMIT');
});

test('an addend above the burst is denied without a wait, and takes nothing from the others', async () => {
  const { envoy } = await ingress();
  const user = descriptor({ path: '/login', user: 'ada' });
  const answer = await envoy.ask({ domain: 'ingress', descriptors: [{ ...client, hits_addend: { value: 3 } }, user] });
  expect(answer).toMatchObject({
    overall_code: 'OVER_LIMIT',
    statuses: [
      { code: 'OVER_LIMIT', duration_until_reset: null },
      { code: 'OK', limit_remaining: 3 },
    ],
  });
  expect((await envoy.ask({ domain: 'ingress', descriptors: [user] })).statuses.at(0)!.limit_remaining).toBe(2);
  const huge = await envoy.ask({ domain: 'ingress', descriptors: [{ ...user, hits_addend: { value: 2 ** 53 } }] });
  expect(huge.overall_code).toBe('OVER_LIMIT');
});

test('a value that is not an id of its limit is denied, and does not keep the others from being counted', async () => {
  const { envoy } = await ingress();
  const bad = descriptor({ remote_address: 'not an address' });
  const user = descriptor({ path: '/login', user: 'ada' });
  const answer = await envoy.ask({ domain: 'ingress', descriptors: [bad, user] });
  expect(answer.statuses.map(({ code }) => code)).toEqual(['OVER_LIMIT', 'OK']);
  expect((await envoy.ask({ domain: 'ingress', descriptors: [user] })).statuses.at(0)!.limit_remaining).toBe(1);
  const empty = await envoy.ask({ domain: 'ingress', descriptors: [descriptor({ path: '/login', user: '' })] });
  expect(empty.overall_code).toBe('OVER_LIMIT');
});

test('a value of any length is counted as itself', async () => {
  const { envoy } = await ingress();
  const ending = (end: string) => descriptor({ path: '/login', user: 'x'.repeat(5000) + end });
  const [one, other] = [ending('a'), ending('b')] as const;
  await envoy.ask({ domain: 'ingress', descriptors: [one], hits_addend: 3 });
  expect((await envoy.ask({ domain: 'ingress', descriptors: [one] })).overall_code).toBe('OVER_LIMIT');
  expect((await envoy.ask({ domain: 'ingress', descriptors: [other] })).overall_code).toBe('OK');
});

test('unlimited passes, blocked denies for good, and a rule replaces the limits that it names', async () => {
  const { envoy } = await ingress();
  await envoy.ask({ domain: 'ingress', descriptors: [client], hits_addend: 2 });
  expect(
    (await envoy.ask({ domain: 'ingress', descriptors: [descriptor({ plan: 'gold' })] })).statuses.at(0)!.current_limit,
  ).toBeNull();
  const silver = descriptor({ plan: 'silver' });
  const replaced = await envoy.ask({ domain: 'ingress', descriptors: [client, silver] });
  expect(replaced.statuses.map((status) => status.current_limit?.name)).toEqual([undefined, 'Daily']);
  const blocked = await envoy.ask({ domain: 'ingress', descriptors: [silver, descriptor({ plan: 'stolen' })] });
  expect(blocked.statuses.map(({ code }) => code)).toEqual(['OK', 'OVER_LIMIT']);
  expect((await envoy.ask({ domain: 'ingress', descriptors: [silver] })).statuses.at(0)!.limit_remaining).toBe(3);
});

test('a rule replaces a blocked rule by its name, and no other', async () => {
  const { envoy } = await ingress();
  const [banned, vip] = [descriptor({ plan: 'banned' }), descriptor({ vip: 'x' })];
  const codes = async (...descriptors: (typeof vip)[]) =>
    (await envoy.ask({ domain: 'ingress', descriptors })).statuses.map(({ code }) => code);
  expect(await codes(banned)).toEqual(['OVER_LIMIT']);
  expect(await codes(banned, vip)).toEqual(['OK', 'OK']);
  expect(await codes(descriptor({ plan: 'stolen' }), vip)).toEqual(['OVER_LIMIT', 'OK']);
});

test('descriptors that match a rule with id: rule share one bucket', async () => {
  const { envoy } = await ingress();
  await envoy.ask({ domain: 'ingress', descriptors: [descriptor({ path: '/logout' })] });
  const other = await envoy.ask({ domain: 'ingress', descriptors: [descriptor({ path: '/logs' })] });
  expect(other.statuses.at(0)!.limit_remaining).toBe(3);
  expect(other.statuses.at(0)!.current_limit).toEqual({ requests_per_unit: 5, unit: 'DAY', name: 'Daily' });
});

test.each([
  ['week', 'WEEK', 'Weekly'],
  ['month', 'MONTH', 'Monthly'],
  ['year', 'YEAR', 'Yearly'],
])('the unit of a limit by %s is %s', async (key, unit, name) => {
  const { envoy } = await ingress();
  const { statuses } = await envoy.ask({ domain: 'ingress', descriptors: [descriptor({ [key]: 'x' })] });
  expect(statuses[0]!.current_limit).toEqual({ requests_per_unit: 5, unit, name });
});

test('of more tokens than 32 bits can count, the most that they can are shown, and each of them is counted', async () => {
  const { envoy } = await ingress();
  const spend = (value: number) =>
    envoy.ask({ domain: 'ingress', descriptors: [descriptor({ money: 'x' }, { hits_addend: { value } })] });
  const first = await spend(999_999_999_998);
  expect(first.statuses[0]).toMatchObject({
    code: 'OK',
    current_limit: { requests_per_unit: 4_294_967_295, unit: 'MONTH' },
    limit_remaining: 2,
  });
  expect((await spend(3)).overall_code).toBe('OVER_LIMIT');
  expect((await spend(2)).statuses[0]).toMatchObject({ code: 'OK', limit_remaining: 0 });
});

test('a limit by another period has an unknown unit, and shows its burst', async () => {
  const { envoy } = await ingress();
  const { statuses } = await envoy.ask({ domain: 'ingress', descriptors: [descriptor({ odd: 'x' })] });
  expect(statuses[0]!.current_limit).toMatchObject({ requests_per_unit: 7, name: 'Odd' });
});

test('a rule in shadow mode denies nothing, shows nothing, and counts what it would deny', async () => {
  const { envoy, service } = await ingress();
  for (let i = 0; i < 7; i++) {
    const answer = await envoy.ask({ domain: 'ingress', descriptors: [descriptor({ tried: 'x' })] });
    expect(answer).toMatchObject({ overall_code: 'OK', response_headers_to_add: [] });
  }
  expect(metricLines(service)).toContainEqual(
    expect.stringMatching(/^sluice_limit_denials_total\{limit="Daily",.*shadow="true"\} 2$/),
  );
});

test('a hidden limit denies without its name', async () => {
  const { envoy } = await ingress();
  const dark = descriptor({ dark: 'x' });
  await envoy.ask({ domain: 'ingress', descriptors: [dark] });
  const answer = await envoy.ask({ domain: 'ingress', descriptors: [dark] });
  expect(answer.statuses[0]).toMatchObject({ code: 'OVER_LIMIT', current_limit: null });
  expect(answer.raw_body.toString() + JSON.stringify(answer.response_headers_to_add)).not.toContain('Secret');
});

test('the metadata of a denial by many limits name those of its body, in at most 2 kB', async () => {
  const names = Array.from({ length: 64 }, (_, i) => `RequestsToRoute${i}PerClientNetworkAndAccount`);
  const rules = names.map((name, i) => `{ descriptor: [route${i}], limit: ${name} }`);
  const { servers } = await served(
    names.map((name) => `${name}: { count: 1, period: 1h, idFormat: by }\n`).join(''),
    `envoy: { ingress: { rules: [${rules.join(', ')}] } }`,
  );
  const envoy = envoyOf(servers.ports.grpc);
  const request = { domain: 'ingress', descriptors: names.map((_, i) => descriptor({ [`route${i}`]: 'x' })) };
  await envoy.ask(request);
  const { raw_body, dynamic_metadata } = await envoy.ask(request);
  const { listValue } = dynamic_metadata!.fields['violated_policies'] as ListField;
  const violated = listValue.values.map(({ stringValue }) => stringValue);
  expect(violated).toEqual(JSON.parse(raw_body.toString())['violated-policies']);
  expect(violated.length).toBeGreaterThan(20);
  expect(JSON.stringify(violated).length).toBeLessThan(2048);
});

test('health is SERVING, and NOT_SERVING while the service drains', async () => {
  const { envoy, service } = await ingress();
  expect(await envoy.health()).toBe('SERVING');
  expect(await envoy.health('envoy.service.ratelimit.v3.RateLimitService')).toBe('SERVING');
  await expect(envoy.health('other')).rejects.toMatchObject({ code: 5 });
  service.drain();
  expect(await envoy.health()).toBe('NOT_SERVING');
});

test('a peer that is not trusted is refused', async () => {
  const { envoy, service } = await ingress({ trustedProxies: ['10.0.0.0/8'] });
  await expect(envoy.ask({ domain: 'ingress', descriptors: [client] })).rejects.toMatchObject({ code: 7 });
  expect(metricLines(service)).toContain('sluice_serve_rejected_peers_total 1');
});
