import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { written } from './files.ts';
import { run, runJson } from './run.ts';
import { asked, LIMITS, onPort, onSocket, TABLES, TOKEN } from './served.ts';

test('peek, charge, refund and reset ask a service on a unix socket, which decides by its own files', async () => {
  const { metrics, check, limits, overrides, end } = await onSocket();
  const on = (command: string, id: string, ...rest: string[]) =>
    runJson([command, '--store', metrics, 'Orders', id, ...rest]);
  expect(await on('charge', 'alice', '--cost', '299')).toMatchObject({ charged: 299, bucket: { remaining: 1 } });
  expect(await on('peek', 'alice', '--cost', '5')).toMatchObject({ remaining: 1, allowed: false, cost: 5 });
  expect(await on('charge', 'alice', '--cost', '80')).toMatchObject({ charged: 51, bucket: { remaining: 0 } });
  expect(await on('refund', 'alice', '--cost', '80')).toMatchObject({ refunded: 80, bucket: { remaining: 30 } });
  expect(await on('reset', 'alice', '--yes')).toMatchObject({ before: 30, bucket: { remaining: 300 } });
  expect(await on('peek', 'gold')).toMatchObject({ remaining: 600, override: 'gold' });
  // JSON has no infinity, and an id may be called so.
  expect(await on('charge', 'Infinity')).toMatchObject({
    charged: 0,
    bucket: { id: 'Infinity', override: 'Infinity', state: 'unlimited', remaining: 'Infinity' },
  });
  expect(await runJson(['peek', '--store', metrics, 'Monthly', 'alice'])).toMatchObject({
    kind: 'quota',
    period: { start: expect.any(String) as string },
  });
  // Requests and operators have the same buckets.
  const client = '203.0.113.7';
  expect([await asked(check, client), await asked(check, client), await asked(check, client)]).toEqual([200, 200, 429]);
  expect((await run(['reset', '--yes', '--store', metrics, 'PerClient', client])).code).toBe(0);
  expect(await asked(check, client)).toBe(200);
  // As on another store, with the files that the service has itself.
  const peeked = await run(['peek', limits, overrides, 'Orders', 'gold'], { env: { SLUICE_STORE: metrics } });
  expect(peeked).toMatchObject({ code: 0, out: expect.stringContaining('600 of 600 tokens left') as string });
  expect(peeked.err).toContain(`The service has its own files and does not read ${limits} ${overrides}.`);
  const { err } = await end();
  expect(err).toContain('an operator called charge for Orders');
  expect(err).not.toMatch(/alice|gold|203\.0/);
});

test('a service on a port demands its token, and --audit writes what has changed', async () => {
  const { store, port } = await onPort();
  const words = ['--store', store, 'Orders', 'alice'];
  const withToken = (token: string) => ({ env: { SLUICE_OPERATOR_TOKEN: token } });
  expect(await run(['peek', ...words])).toMatchObject({
    code: 2,
    err: `error: The service at http://127.0.0.1:${port} demands a token. Set the environment variable SLUICE_OPERATOR_TOKEN to that of the service.\n`,
  });
  const wrong = await run(['charge', ...words], withToken('f'.repeat(64)));
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('has another token than') as string });
  expect(wrong.err).not.toContain('fff');
  expect(await run(['peek', ...words], withToken('a\nb'))).toMatchObject({
    code: 2,
    err: expect.stringContaining('SLUICE_OPERATOR_TOKEN must have visible characters') as string,
  });
  const ran = await run(['charge', ...words, '--audit', '--by', 'ann'], withToken(TOKEN));
  expect(ran).toMatchObject({ code: 0, out: expect.stringContaining('299 of 300 tokens left') as string });
  const logged = await run(['charge', ...words, '--log', '--by', 'ann'], withToken(TOKEN));
  expect(logged).toMatchObject({ code: 2, err: expect.stringContaining('and the service has none') as string });
  expect((await run(['peek', ...words], withToken(TOKEN))).out).toContain('299 of 300');
  expect(ran.err).toMatch(/"by":"ann","what":"charge","limit":"Orders","id":"alice","before":300,"after":299/);
});

test.each([
  [['Users', 'alice'], "No limit is named 'Users'", 'ERR_UNKNOWN_LIMIT'],
  [['PerClient', 'alice'], 'alice', 'ERR_ID'],
  [['Orders'], 'missing required argument', 'words'],
])('a service rejects %j as a store does', async (words, message, code) => {
  const { metrics } = await onSocket();
  const { code: exit, err } = await run(['peek', '--store', metrics, ...words]);
  expect({ exit, err }).toEqual({ exit: 2, err: expect.stringContaining(message) as string });
  expect(err).toContain(code);
});

test('a service without --operate, another port of it and another program have other errors than one that is not there', async () => {
  const { store, check } = await onPort([]);
  const peek = (address: string, ...more: string[]) => run(['peek', '--store', address, ...more, 'Orders', 'alice']);
  const noDoor = expect.stringContaining('Start sluice serve with --operate, and name the address of its') as string;
  expect(await peek(store)).toMatchObject({ code: 2, err: noDoor });
  expect(await peek(`serve:unix:${check}`)).toMatchObject({ code: 2, err: noDoor });
  expect(await peek('serve:http://127.0.0.1:1')).toMatchObject({
    code: 2,
    err: expect.stringContaining('does not answer: connect ECONNREFUSED') as string,
  });
  const other = createServer((_, outgoing) => outgoing.end('<html>'));
  const silent = createServer(() => {});
  for (const server of [other, silent]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => server.close().closeAllConnections());
  }
  const [atOther, atSilent] = [other, silent].map(
    (server) => `serve:http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  );
  expect(await peek(atOther!)).toMatchObject({ code: 2, err: noDoor });
  expect(await peek(atSilent!, '--timeout', '200')).toMatchObject({
    code: 2,
    err: expect.stringContaining('no answer within 200 ms') as string,
  });
});

test.each([
  [['peek', '--store', `serve:http://${TOKEN}@127.0.0.1:9`], 'A token must not be in `--store`'],
  [['peek', '--store', `serve:http://127.0.0.1:9/?token=${TOKEN}`], 'A token must not be in `--store`'],
  [['peek', `--token=${TOKEN}`], 'Put a token of sluice serve into the environment variable SLUICE_OPERATOR_TOKEN'],
  [['peek', '--operator-token', TOKEN], 'Put a token of sluice serve into the environment'],
  [['serve', `--operate-token=${TOKEN}`], 'Put a token of sluice serve into the environment'],
  [['peek', '--store', 'serve:grpc://127.0.0.1:9'], '`--store serve:` must have the address'],
  [['peek', '--store', 'serve:http://127.0.0.1:9/operator'], '`--store serve:` must have the address'],
  [['peek', '--store', 'serve:127.0.0.1:9'], '`--store serve:` must have the address'],
  [['top', '--store', 'serve:http://127.0.0.1:9'], 'does not list its buckets. Name its store'],
])('%j is refused with a remedy, and the token is not shown', async ([command = '', ...options], message) => {
  const [limits = ''] = written(LIMITS);
  const words = command === 'top' ? [limits] : [limits, 'Orders', 'alice'];
  const { code, err } = await run([command, ...options, ...words]);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) as string });
  expect(err).not.toContain(TOKEN);
});

test.each([
  [['--operate'], {}, '`--operate` needs `--metrics`'],
  [['--operate', '--metrics', '127.0.0.1:0'], {}, '`--operate` needs a token of 32 to 512'],
  [['--operate', '--metrics', '127.0.0.1:0'], { SLUICE_OPERATOR_TOKEN: 'short' }, '`--operate` needs a token of 32'],
  [['--operate', '--metrics', 'unix:/x'], { SLUICE_OPERATOR_TOKEN: '' }, '`--operate` needs a token of 32'],
])('sluice serve %j with %j does not start', async (options, env, message) => {
  const [limits = '', tables = ''] = written(LIMITS, TABLES);
  const { code, err } = await run(['serve', limits, tables, '--http', '127.0.0.1:0', ...options], { env });
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) as string });
});
