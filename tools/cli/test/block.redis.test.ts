import { accountId, createLimiter, ipAddress, type Limiter } from '@sluice/core';
import { redisStore } from '@sluice/redis';
import { userInfo } from 'node:os';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { redisServer, type RedisServer } from '../../../test/redis/servers/redis-server.ts';
import { until } from '../../../test/redis/servers/until.ts';
import { written } from './files.ts';
import { run, runJson } from './run.ts';

const LIMITS = `
Orders: { count: 300, period: 3h, idFormat: accountId }
Addresses: { count: 300, period: 3h, idFormat: ipAddress }
PerProcess: { concurrency: 10, scope: process, idFormat: accountId }
`;
const OVERRIDES = '- Orders: { blocked: true, ids: [spammer] }\n';
const WHY = ['--for', '2h', '--reason', 'ticket 4711', '--by', 'mia'];

let server: RedisServer;
beforeAll(async () => {
  server = await redisServer();
});

const on = ([command = '', ...words]: readonly string[], given?: Parameters<typeof run>[1]) =>
  run([command, '--redis', server.url, ...words], given);
const jsonOn = ([command = '', ...words]: readonly string[]) => runJson([command, '--redis', server.url, ...words]);

/** The limiter of a server. */
async function production(): Promise<Limiter> {
  const store = redisStore({ url: server.url, log: false });
  const limits = {
    Orders: { key: accountId(), count: 300, period: '3h' },
    Addresses: { key: ipAddress(), count: 300, period: '3h' },
  };
  const limiter = createLimiter({ limits, store, failure: { deadlineMs: 5000 }, log: false });
  await limiter.ready();
  onTestFinished(async () => limiter.close({ store: true }));
  return limiter;
}

const isBlocked = async (limiter: Limiter, limit: string, id: string): Promise<boolean> =>
  (await limiter.spend([{ limit, id }])).blocked;

it('a customer is blocked, shown with the reason, and let in again, in all servers', async () => {
  const [limits = '', overrides = ''] = written(LIMITS, OVERRIDES);
  const limiter = await production();
  expect(await isBlocked(limiter, 'Orders', 'alice')).toBe(false);
  const made = await on(['block', limits, overrides, 'Orders', 'alice', ...WHY]);
  const by = String.raw`until 20\S+Z`;
  expect(made).toEqual({
    code: 0,
    out: expect.stringMatching(new RegExp(`^Orders alice: blocked ${by} by mia: ticket 4711\n$`)) as string,
    err: '',
  });
  await until('the server knows it', () => isBlocked(limiter, 'Orders', 'alice'));
  expect((await on(['peek', limits, overrides, 'Orders', 'alice'])).out).toMatch(
    new RegExp(`^Orders alice: blocked ${by} by mia: ticket 4711\n$`),
  );
  expect(await jsonOn(['peek', limits, overrides, 'Orders', 'alice'])).toMatchObject({
    state: 'blocked',
    allowed: false,
    override: null,
    block: { limit: 'Orders', id: 'alice', reason: 'ticket 4711', by: 'mia' },
  });
  expect((await on(['peek', limits, overrides, 'Orders', 'spammer'])).out).toContain('by an override for spammer');
  expect((await on(['blocked'])).out).toMatch(
    new RegExp(`^Orders alice: blocked ${by} \\(for 1 h 59 min\\) by mia: ticket 4711\n$`),
  );
  expect((await on(['charge', limits, overrides, 'Orders', 'alice'])).err).toContain('the id is blocked');
  expect((await on(['unblock', limits, overrides, 'Orders', 'alice'])).out).toMatch(
    new RegExp(`^Orders alice is not blocked any more. It was blocked ${by} by mia: ticket 4711\n$`),
  );
  await until('the server knows it', async () => !(await isBlocked(limiter, 'Orders', 'alice')));
  expect((await on(['unblock', limits, overrides, 'Orders', 'alice'])).out).toBe('Orders alice was not blocked\n');
  expect(await on(['unblock', limits, overrides, 'Orders', 'spammer'])).toEqual({
    code: 0,
    out: 'Orders spammer was not blocked\n',
    err: 'An override for spammer still denies it. To let it in, change the overrides.\n',
  });
  expect(await on(['blocked'])).toEqual({ code: 0, out: '', err: 'No id is blocked.\n' });
  expect(await on(['blocked', limits])).toMatchObject({
    code: 2,
    err: expect.stringContaining('There must be the name of a limit here, and no file') as string,
  });
  expect(await on(['blocked', 'Orders'])).toMatchObject({ err: 'No id is blocked at the limit Orders.\n' });
});

it('no file is needed: the name and the id count as they are written, addresses in any spelling', async () => {
  const limiter = await production();
  expect((await on(['block', 'Addresses', '2001:DB8::0:1', ...WHY])).err).toContain(
    'Neither the name nor the id was checked',
  );
  await until('the server knows it', () => isBlocked(limiter, 'Addresses', '2001:db8::1'));
  await on(['block', '--limit', 'Networks', '2001:DB8:7::/48', ...WHY]);
  expect(await jsonOn(['blocked'])).toMatchObject({
    blocks: [
      { limit: 'Addresses', id: '2001:db8::1' },
      { limit: 'Networks', id: '2001:db8:7::/48' },
    ],
  });
  expect(await jsonOn(['blocked', 'Networks'])).toMatchObject({ blocks: [{ id: '2001:db8:7::/48' }] });
  expect(await jsonOn(['unblock', 'Networks', '2001:db8:7::/48'])).toMatchObject({ ended: { by: 'mia' } });
  expect(await jsonOn(['unblock', 'Addresses', '2001:db8::1'])).toMatchObject({ ended: { by: 'mia' } });
  expect(await jsonOn(['unblock', 'Addresses', '2001:db8::1'])).toEqual({
    limit: 'Addresses',
    id: '2001:db8::1',
    ended: null,
    blockedBy: null,
  });
});

it('a limit that is counted in each process can be blocked, too', async () => {
  const [limits = ''] = written(LIMITS);
  expect((await on(['block', limits, 'PerProcess', 'bob', ...WHY])).code).toBe(0);
  expect((await on(['unblock', limits, 'PerProcess', 'bob'])).code).toBe(0);
});

it('on a terminal the user and the host block', async () => {
  const words = ['block', 'Orders', 'bob', '--for', '1s', '--reason', 'x'];
  expect((await on(words, { isTty: true })).out).toContain(` by ${userInfo().username}@`);
  expect(await on(words)).toMatchObject({ code: 2, err: expect.stringContaining('`--by` must name') as string });
});

it.each([
  [['--for', '0', '--reason', 'x', '--by', 'mia'], "`--for` must be a time such as 30m, 2h or 7d, but was '0'"],
  [['--for', '0s', '--reason', 'x', '--by', 'mia'], '`--for`'],
  [
    ['--for', '91d', '--reason', 'x', '--by', 'mia'],
    '`--for` must be a whole number from 1 to 7776000000, but was 7862400000. A block lasts at most 90 days',
  ],
  [['--for', '7200000', '--reason', 'x', '--by', 'mia'], '`--for`'],
  [['--reason', 'x', '--by', 'mia'], "`--for` must be a time such as 30m, 2h or 7d, but was ''"],
  [['--for', '2h', '--by', 'mia'], '`--reason` must say why'],
  [['--for', '2h', '--reason', 'r'.repeat(201), '--by', 'mia'], 'text of 1 to 200 characters'],
  [['--for', '2h', '--reason', 'x', '--by', 'mia', '--hash-ids'], '`--hash-ids` must be given with `--audit`'],
])('%j is an error by name, and blocks nobody', async (options, message) => {
  const { code, out, err } = await on(['block', 'Orders', 'carol', ...options]);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain(message);
  expect(await jsonOn(['blocked', 'Orders'])).not.toMatchObject({ blocks: [{ id: 'carol' }] });
});

it('a word that was left out is not taken for a name', async () => {
  const [limits = ''] = written(LIMITS);
  expect((await on(['block', limits, 'Orders', ...WHY])).err).toContain('After the files there must be an id');
  expect((await on(['block', 'Orders', ...WHY])).code).toBe(2);
  expect((await on(['block', limits, 'Ordrs', 'alice', ...WHY])).err).toContain('No limit is named');
});

it('with --audit each change writes a record, and with --hash-ids none has the id', async () => {
  const records = ({ err }: { readonly err: string }): unknown[] =>
    Array.from(err.matchAll(/\{"type":"sluice-audit".*\}/g), ([line]) => JSON.parse(line) as unknown);
  const made = await on(['block', 'Orders', 'dora', ...WHY, '--audit', '--hash-ids']);
  const hashed = { id: expect.stringMatching(/^sha256:[0-9a-f]{32}$/) as string, limit: 'Orders', outcome: 'done' };
  const untilIso = expect.stringMatching(/^20\S+Z$/) as string;
  expect(records(made)).toMatchObject([
    { ...hashed, what: 'block', by: 'mia', reason: 'ticket 4711', until: untilIso },
  ]);
  expect(made.err).not.toContain('dora');
  const audit = ['--audit', '--by', 'ann', '--reason', 'sorry'];
  const ended = await on(['unblock', 'Orders', 'dora', ...audit]);
  expect(records(ended)).toMatchObject([{ what: 'unblock', id: 'dora', by: 'ann', reason: 'sorry', until: untilIso }]);
  const again = records(await on(['unblock', 'Orders', 'dora', ...audit]));
  expect(again).toMatchObject([{ outcome: 'done' }]);
  expect(again[0]).not.toHaveProperty('until');
});

it('with --log each change is in the log of the store', async () => {
  await on(['block', 'Orders', 'eve', ...WHY, '--log']);
  await on(['unblock', 'Orders', 'eve', '--log', '--by', 'ann']);
  expect((await on(['log'])).out).toMatch(
    /^20\S+Z mia: block Orders eve, until 20\S+Z: ticket 4711\n20\S+Z ann: unblock Orders eve, until 20\S+Z\n$/,
  );
});

it('a store that is not there is an error', async () => {
  const { code, err } = await run(['blocked', '--redis', 'redis://127.0.0.1:1', '--timeout', '100']);
  expect(code).toBe(2);
  expect(err).toContain('was not ready within 100 ms');
});

it('a user without the rights is sent to sluice doctor, which lists them', async () => {
  await server.call('ACL', 'SETUSER', 'reader', 'on', '>secret', '~*', '+@read', '+@connection', '+info');
  const url = server.url.replace('//', '//reader:secret@');
  const { code, err } = await run(['blocked', '--redis', url, '--timeout', '500']);
  expect({ code, err }).toEqual({
    code: 2,
    err: expect.stringContaining('lacks a permission. sluice doctor lists those that it needs.') as string,
  });
});
