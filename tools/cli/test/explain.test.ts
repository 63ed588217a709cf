import { accountId, createLimiter, type Limiter } from '@sluice/core';
import { describe, expect, it } from 'vitest';
import { moduleOf, written } from './files.ts';
import { run, runJson } from './run.ts';

const LIMITS = `
Orders: { count: 300, period: 3h, idFormat: accountId }
Requests: { count: 20, period: 1s, idFormat: ipAddress }
Monthly: { count: 1000, per: month, idFormat: accountId }
InFlight: { concurrency: 100, idFormat: accountId }
PerProcess: { concurrency: 10, scope: process, idFormat: accountId }
Worker: { load: eventLoop }
Exports: { count: 1, period: 1s, maxWait: 5s, idFormat: accountId }
Tokens: { count: 10, period: 1s, maxDebt: 30, idFormat: accountId }
PerUser: { count: 10, period: 1m, idFormat: accountId, borrow: { from: Pool, ceiling: { count: 20, period: 1m } } }
Pool: { count: 100, period: 1m }
Searches: { count: 100, period: 1s, burst: 200, overshoot: 0.1, idFormat: accountId }
Rare: { count: 1, period: 366d, idFormat: accountId }
Off: { count: 1, period: 1s, disabled: true, idFormat: accountId }
NoFormat: { count: 1, period: 1s }
`;
const OVERRIDES = `
- Orders: { count: 600, period: 3h, ids: [12345678] }
- Requests: { blocked: true, ids: [10.0.0.0/8] }
- Requests: { unlimited: true, ids: [10.2.0.0/16] }
- Worker: { unlimited: true, ids: [10.0.0.1] }
- PerUser: { count: 15, period: 1m, ids: [gold], borrow: { weight: 3 } }
`;

/** The lines about an id, by their labels. */
async function explained(limit: string, ...words: string[]): Promise<Record<string, string>> {
  const { code, out, err } = await run(['explain', ...written(LIMITS, OVERRIDES), '--limit', limit, ...words]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const [title = '', ...rows] = out.trimEnd().split('\n');
  const labelled = rows.map((row) => /^ {2}(.+?) {2,}(.*)$/.exec(row)!.slice(1));
  return { title, ...(Object.fromEntries(labelled) as Record<string, string>) };
}

describe('sluice explain', () => {
  it('takes the word after the limits as overrides if it is a file of them, also with --limit', async () => {
    const [limits = '', overrides = ''] = written(LIMITS, OVERRIDES);
    const { code, out } = await run(['explain', limits, overrides, '--limit', 'Orders']);
    expect([code, out.split('\n')[0]]).toEqual([0, 'Orders: 300 per 3 h, burst 300']);
    expect(out).not.toContain('overrides.yaml');
  });

  it.each([
    ['clientNetwork', '2001:db8:7:8::9', '2001:db8:7::/48'],
    ['ipv6RangeCIDR', '2001:db8:7:8::9', '2001:db8:7::/48'],
    ['clientNetwork', '203.0.113.7', '203.0.113.7'],
    ['ipAddress', '2001:DB8:7:8::9', '2001:db8:7:8::9'],
  ])('with ids of the format %s explains the address %s as %s', async (idFormat, text, id) => {
    const [limits = ''] = written(`Requests: { count: 3, period: 3h, idFormat: ${idFormat} }\n`);
    expect(await runJson(['explain', limits, '--limit', 'Requests', text])).toMatchObject({ id });
  });

  it('shows the numbers of an override, why they apply, and what they come to', async () => {
    const [limits = '', overrides = ''] = written(LIMITS, OVERRIDES);
    const { out } = await run(['explain', limits, overrides, '--limit', 'Orders', '12345678']);
    expect(out).toBe(`Orders 12345678: 600 per 3 h, burst 600
  from       an override for the id, instead of 300 per 3 h, burst 300
  kind       rate
  ids        accountId
  T          one token every 18 s
  burst      600 at once; an empty bucket is full after 3 h
  at most    603 in any minute, 800 in any hour, 5400 in any day
  decided    exactly, by the store
  Redis key  sluice:Orders:12345678, slot 10583 of a cluster
`);
  });

  it('shows the same numbers that a limiter decides by', async () => {
    const [limits = '', overrides = ''] = written(LIMITS, OVERRIDES);
    const limiter: Limiter = createLimiter({
      limits: { Orders: { key: accountId(), count: 300, period: '3h' } },
      overrides: { Orders: { '12345678': { count: 600, period: '3h' } } },
    });
    for (const id of ['12345678', '7']) {
      const [result] = (await limiter.spend([{ limit: 'Orders', id }])).results;
      expect(await runJson(['explain', limits, overrides, '--limit', 'Orders', id])).toMatchObject({
        state: 'counted',
        numbers: { burst: result?.burst, count: result?.count, periodMs: result?.periodMs },
        rate: { tokenMs: result?.resetAfterMs },
        override: id === '7' ? null : '12345678',
      });
    }
  });

  it('names the network whose override applies, and shows the canonical id', async () => {
    expect(await explained('Requests', '::ffff:10.1.3.4')).toMatchObject({
      title: 'Requests 10.1.3.4: blocked',
      from: 'an override for the network 10.0.0.0/8, instead of 20 per second, burst 20',
      decided: 'at once, without the store',
    });
    expect((await explained('Requests', '10.2.3.4')).title).toBe('Requests 10.2.3.4: unlimited');
    expect((await explained('Requests', '1.2.3.4')).from).toBe('the limit: no override is listed for the id');
  });

  it.each<[string, string, Record<string, string>]>([
    ['Monthly', 'a', { title: 'Monthly a: 1,000 per calendar month', kind: 'quota' }],
    ['InFlight', 'a', { kind: 'concurrency', slots: 'slots of a process that died are free again after 10 s' }],
    ['PerProcess', 'a', { kind: 'concurrency, in each process', decided: 'in each process, without a store' }],
    ['Worker', '10.0.0.2', { title: 'Worker 10.0.0.2: the load of each process', kind: 'load, in each process' }],
    ['Worker', '10.0.0.1', { title: 'Worker 10.0.0.1: unlimited', from: 'an override for the id' }],
    ['Exports', 'a', { kind: 'rate, queue', queue: 'a request waits up to 5 s: at most 5 wait' }],
    ['Tokens', 'a', { kind: 'rate, debt', debt: 'a charge may take up to 30 tokens more' }],
    ['Tokens', 'a', { 'at most': '640 in any minute, 36040 in any hour, 864040 in any day' }],
    ['PerUser', 'a', { borrows: 'from Pool up to 20 per minute, burst 20 in all, shared by weight (1)' }],
    ['PerUser', 'gold', { borrows: 'from Pool up to 20 per minute, burst 20 in all, shared by weight (3)' }],
    ['Pool', 'everyone', { kind: 'rate, pool', ids: 'everyone' }],
    ['Searches', 'a', { decided: expect.stringContaining('at most 20 tokens above the limit') as string }],
    ['Off', 'a', { title: 'Off a: unlimited', from: 'the limit, which is disabled' }],
  ])('shows what is special about %s %s', async (limit, id, rows) => {
    expect(await explained(limit, id)).toMatchObject(rows);
  });

  it('shows no windows that contain no more than the burst', async () => {
    expect(await explained('Rare', 'a')).not.toHaveProperty('at most');
  });

  it('shows where all buckets of an id are, by the prefix and the hash tag', async () => {
    const [limits = ''] = written(LIMITS);
    const args = ['explain', limits, '--limit', 'PerUser', 'a', '--prefix', 'shop:', '--hash-tag', 'id'];
    expect(await runJson(args)).toMatchObject({
      buckets: [
        { limit: 'PerUser', key: 'shop:PerUser:{a}', slot: 15_495 },
        { limit: 'PerUser.ceiling', key: 'shop:PerUser.ceiling:{a}', slot: 15_495 },
      ],
    });
    expect(await runJson(['explain', limits, '--limit', 'Worker', '10.0.0.1'])).toMatchObject({ buckets: [] });
  });

  it('explains a limit without an id, and lists all limits without --limit', async () => {
    const files = written(LIMITS, OVERRIDES);
    const [limits = ''] = files;
    expect(await runJson(['explain', limits, '--limit', 'NoFormat'])).toMatchObject({ id: null, buckets: [] });
    expect((await run(['explain', limits, '--limit', 'Orders'])).out).toContain('give an id to see');
    const { out } = await run(['explain', ...files]);
    expect(out).toContain('Orders      300 per 3 h, burst 300 (rate; ids: accountId)\n');
    expect(out).toContain('Exports     1 per second, burst 1 (rate, queue; ids: accountId)\n');
    expect(out).toContain('NoFormat    1 per second, burst 1 (rate; ids: no idFormat)\n');
    expect(await runJson(['explain', ...files])).toMatchObject({ limits: expect.any(Array) as unknown[] });
  });

  it('takes the id formats of the keys of a module', async () => {
    const [limits = ''] = written('Colors: { count: 1, period: 1s }\n');
    const format = `{ name: 'color', canonical: (text) => text.toLowerCase() }`;
    const module = moduleOf(`export const keys = { Colors: { key: { format: ${format} }, onFailure: 'open' } };\n`);
    const args = ['explain', limits, '--limit', 'Colors', 'RED', '--keys'];
    expect(await runJson([...args, module])).toMatchObject({ id: 'red', idFormat: 'color' });
    expect((await run([...args, `${module}x`])).err).toContain('`--keys` must be an ES module, but');
    expect((await run([...args, moduleOf('export const key = 1;')])).err).toContain(
      '`--keys` must be a module that exports `keys`, but',
    );
    expect((await run([...args, moduleOf('export const keys = 1;')])).err).toContain(
      '`keys` must be an object of keys',
    );
  });

  it.each([
    [['--limit', 'Ordrs', 'a'], "No limit is named 'Ordrs'. Did you mean `Orders`?"],
    [['--limit', 'Requests', 'x'], '`id` must be an IPv4 or IPv6 address'],
    [['--limit', 'NoFormat', 'x'], 'The limit `NoFormat` has no idFormat'],
    [['--limit', 'Orders', 'a', 'b', 'c'], 'There must be at most 3 words here, but there are 4:'],
    [['a', 'b', 'c', 'd'], 'There must be at most 4 words here, but there are 5:'],
    [['--limit', 'Orders', 'a', '--prefix', 'a b'], '`prefix` must be'],
  ])('rejects %j', async (words, message) => {
    const [limits = ''] = written(LIMITS);
    const { code, out, err } = await run(['explain', limits, ...words]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
  });
});
