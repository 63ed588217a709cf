import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { run, runJson } from './run.ts';
import { asked, onPort, onSocket, TOKEN } from './served.ts';

const WHY = ['--for', '2h', '--reason', 'ticket 4711', '--by', 'mia'];
const UNTIL = String.raw`until 20\S+Z`;
const CLIENT = '203.0.113.7';

const containing = (text: string): string => expect.stringContaining(text) as string;
const matching = (text: string): string => expect.stringMatching(new RegExp(text)) as string;

test('a client is blocked, listed and let in again by a service, whose own limits check the name and the id', async () => {
  const { metrics, check, limits, end } = await onSocket();
  const on = (command: string, ...words: string[]) => run([command, '--store', metrics, ...words]);
  const jsonOn = (command: string, ...words: string[]) => runJson([command, '--store', metrics, ...words]);
  expect(await asked(check, CLIENT)).toBe(200);
  expect(await on('block', 'PerClient', CLIENT, ...WHY)).toEqual({
    code: 0,
    out: matching(`^PerClient 203.0.113.7: blocked ${UNTIL} by mia: ticket 4711\n$`),
    err: 'The service keeps it in memory, so it ends when the service does.\n',
  });
  expect(await asked(check, CLIENT)).toBe(403);
  expect(await asked(check, '203.0.113.8')).toBe(200);
  expect((await on('peek', 'PerClient', CLIENT)).out).toMatch(
    /^PerClient 203\.0\.113\.7: blocked until .*ticket 4711\n$/,
  );

  // The id in another spelling, and the files that the service has itself.
  const made = await on('block', limits, '--limit', 'PerClient', '2001:0DB8::/48', ...WHY);
  expect(made).toMatchObject({ code: 0, out: matching('^PerClient 2001:db8::/48: blocked') });
  expect(made.err).toContain(`The service has its own files and does not read ${limits}.`);
  expect((await on('block', 'Orders', 'alice', ...WHY)).code).toBe(0);
  expect(await jsonOn('blocked', 'PerClient')).toMatchObject({ blocks: [{ id: CLIENT }, { id: '2001:db8::/48' }] });
  expect(await jsonOn('blocked')).toMatchObject({ blocks: [{}, {}, { limit: 'Orders', id: 'alice', by: 'mia' }] });
  expect((await on('blocked', 'Orders')).out).toMatch(
    /^Orders alice: blocked until \S+ \(for 1 h 59 min\) by mia: ticket/,
  );

  expect((await on('unblock', 'PerClient', CLIENT)).out).toMatch(
    new RegExp(`^PerClient 203.0.113.7 is not blocked any more. It was blocked ${UNTIL} by mia`),
  );
  expect(await asked(check, CLIENT)).toBe(200);
  expect(await jsonOn('unblock', 'PerClient', '2001:DB8:0::/48')).toMatchObject({
    id: '2001:db8::/48',
    ended: { reason: 'ticket 4711' },
  });
  expect((await on('unblock', 'PerClient', CLIENT)).out).toBe('PerClient 203.0.113.7 was not blocked\n');
  expect(await on('unblock', 'Orders', 'spammer')).toMatchObject({
    out: 'Orders spammer was not blocked\n',
    err: 'An override for spammer still denies it. To let it in, change the overrides.\n',
  });
  expect((await on('blocked', 'Monthly')).err).toBe('No id is blocked at the limit Monthly.\n');
  const { err } = await end();
  expect(err).toContain('an operator called block for PerClient');
  expect(err).toContain('an operator called unblock for PerClient');
  expect(err).not.toMatch(/alice|203\.0|2001|mia|ticket/);
});

test('a block ends by itself, and a second one of an id replaces the first', async () => {
  const { metrics } = await onSocket();
  const block = (...more: string[]) =>
    runJson(['block', '--store', metrics, 'Orders', 'alice', '--by', 'ann', ...more]);
  await block('--for', '2h', '--reason', 'first');
  await block('--for', '1ms', '--reason', 'second');
  await expect.poll(() => runJson(['blocked', '--store', metrics])).toEqual({ blocks: [] });
});

test('with --audit the record has the canonical id, and with --hash-ids nothing that is written has it', async () => {
  const { metrics } = await onSocket();
  const change = (command: string, ...more: string[]) =>
    run([command, '--store', metrics, 'PerClient', '2001:0DB8::/48', '--audit', ...more]);
  const recordsOf = ({ err }: { readonly err: string }): unknown[] =>
    Array.from(err.matchAll(/\{"type":"sluice-audit".*\}/g), ([line]) => JSON.parse(line) as unknown);
  const done = { limit: 'PerClient', outcome: 'done', before: null, after: null, until: matching('^20') };
  expect(recordsOf(await change('block', ...WHY))).toMatchObject([
    { ...done, what: 'block', id: '2001:db8::/48', by: 'mia', reason: 'ticket 4711' },
  ]);
  const ended = await change('unblock', '--by', 'ann', '--reason', 'sorry', '--hash-ids');
  expect(recordsOf(ended)).toMatchObject([
    { ...done, what: 'unblock', id: matching('^sha256:[0-9a-f]{32}$'), by: 'ann', reason: 'sorry' },
  ]);
  expect(ended.err.toLowerCase()).not.toContain('2001:db8');
  const inLog = await run(['block', '--store', metrics, 'Orders', 'alice', ...WHY, '--log']);
  expect(inLog).toMatchObject({ code: 2, err: containing('and the service has none. Use --audit.') });
  expect(await runJson(['blocked', '--store', metrics])).toEqual({ blocks: [] });
});

test('a wrong word or option is an error by name, and blocks nobody', async () => {
  const { metrics } = await onSocket();
  const block = ['block', 'Orders', 'carol'];
  const [reason, by] = [
    ['--reason', 'x'],
    ['--by', 'mia'],
  ];
  for (const [[command = '', ...words], message] of [
    [[...block, '--for', '0', ...reason, ...by], '`--for` must be a time such as 30m'],
    [[...block, '--for', '91d', ...reason, ...by], '`--for` must be a whole number from 1 to 7776000000'],
    [[...block, '--for', '2h', ...by], '`--reason` must say why'],
    [[...block, '--for', '2h', ...reason], '`--by` must name who does it'],
    [[...block, '--for', '2h', ...by, '--reason', 'r'.repeat(201)], 'text of 1 to 200 characters'],
    [[...block, '--for', '2h', ...by, '--reason', 'r'.repeat(90_000)], 'too long for a service'],
    [[...block, '--for', '2h', ...reason, '--by', 'b'.repeat(101)], 'text of 1 to 100 characters'],
    [['block', 'Users', 'carol', ...WHY], "No limit is named 'Users'"],
    [['block', 'PerClient', 'carol', ...WHY], 'ERR_ID'],
    [['block', 'Orders', 'c'.repeat(5000), ...WHY], 'must be 1 to 256 characters'],
    [['block', 'Orders', '', ...WHY], 'ERR_ID'],
    [['block', 'Orders', ...WHY], 'There must be the name of a limit and an id'],
    [['unblock', 'Users', 'carol'], "No limit is named 'Users'"],
    [['blocked', 'Users'], "No limit is named 'Users'"],
    [['unblock', 'Orders', 'carol', '--token', TOKEN], 'Put a token of sluice serve into the environment'],
  ] as const) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { code, out, err } = await run([command, '--store', metrics, ...words]);
    expect({ code, out, err }).toEqual({ code: 2, out: '', err: containing(message) });
    expect(err).not.toContain(TOKEN);
  }
  expect(await runJson(['blocked', '--store', metrics])).toEqual({ blocks: [] });
});

test('each of them needs the token of a service on a port, and --operate', async () => {
  const [{ store }, { store: closed }] = [await onPort(), await onPort([])];
  for (const [command = '', ...words] of [
    ['block', 'Orders', 'alice', ...WHY],
    ['unblock', 'Orders', 'alice'],
    ['blocked'],
  ]) {
    const on = (at: string, token?: string) =>
      run([command, '--store', at, ...words], { env: token === undefined ? {} : { SLUICE_OPERATOR_TOKEN: token } });
    // oxlint-disable no-await-in-loop -- one after the other
    expect(await on(store)).toMatchObject({ code: 2, err: containing('demands a token') });
    expect(await on(store, 'f'.repeat(64))).toMatchObject({ code: 2, err: containing('has another token than') });
    expect((await on(store, TOKEN)).code).toBe(0);
    expect(await on(closed, TOKEN)).toMatchObject({ code: 2, err: containing('Start sluice serve with --operate') });
    // oxlint-enable no-await-in-loop
  }
});

test('a service of the version before does not know the calls, and says which version it has', async () => {
  // As it answers a call of another version, and one of its own version that it does not know.
  const message = 'The service answers calls of version 1. Use the same version of sluice on both sides.';
  const before = createServer((incoming, outgoing) => {
    incoming.setEncoding('utf8').on('data', (text: string) => {
      const { version } = JSON.parse(text) as { version: number };
      outgoing.writeHead(400, { 'Content-Type': 'application/json' });
      outgoing.end(JSON.stringify({ message: version === 1 ? 'The call is malformed.' : message }));
    });
  });
  await once(before.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => before.close().closeAllConnections());
  const store = `serve:http://127.0.0.1:${(before.address() as AddressInfo).port}`;
  for (const words of [['block', 'Orders', 'alice', ...WHY, '--audit'], ['unblock', 'Orders', 'alice'], ['blocked']])
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect(await run([words[0]!, '--store', store, ...words.slice(1)])).toEqual({
      code: 2,
      out: '',
      err: `error: ${message}\n`,
    });
});
