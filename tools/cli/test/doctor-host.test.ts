import { accountId, createLimiter } from '@sluice/core';
import { hostStore } from '@sluice/host';
import { fork } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { realDelay } from '../../../test/real-delay.ts';
import { diagnosis } from './diagnosis.ts';
import { moduleOf } from './files.ts';
import { run } from './run.ts';

function newSocket(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-doctor-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'app.sock');
}

/** A socket with buckets of this process. */
async function served(): Promise<string> {
  const socket = newSocket();
  const store = hostStore({ socket, log: false });
  const limits = { Orders: { key: accountId(), count: 300, period: '3h' } };
  const limiter = createLimiter({ limits, store, log: false });
  await limiter.ready();
  onTestFinished(() => limiter.close({ store: true }));
  return socket;
}

/** A socket on which something else listens. */
async function answeredBy(text: string | ((client: Socket) => Promise<void>) | undefined): Promise<string> {
  const socket = newSocket();
  const server = createServer((client) => {
    client.on('error', () => {});
    if (typeof text === 'function') void text(client);
    else if (text !== undefined) client.write(text);
  });
  server.listen(`${socket}.1`);
  await once(server, 'listening');
  chmodSync(`${socket}.1`, 0o600);
  onTestFinished(() => void server.close());
  return socket;
}

/** A socket whose process was killed. */
async function leftBehind(): Promise<string> {
  const socket = newSocket();
  const program = moduleOf(
    `import { createServer } from 'node:net'; createServer().listen(process.argv[2], () => process.send('up'));`,
  );
  const child = fork(program, [`${socket}.1`]);
  await once(child, 'message');
  child.kill('SIGKILL');
  await once(child, 'exit');
  chmodSync(`${socket}.1`, 0o600);
  return socket;
}

async function withMode(path: (socket: string) => string, mode: number): Promise<string> {
  const socket = await served();
  chmodSync(path(socket), mode);
  return socket;
}

const WRONG: Readonly<Record<string, readonly [said: RegExp, make: () => string | Promise<string>]>> = {
  'a socket that no process serves': [/^store: no process serves the buckets of /, newSocket],
  'a process that was killed': [/^store: the process that served has ended/, leftBehind],
  'a process that hangs': [/^store: the process does not answer within 500 ms/, () => answeredBy(undefined)],
  'a process that sends byte by byte': [
    /^store: the process does not answer within 500 ms/,
    () =>
      answeredBy(async (client) => {
        for (const byte of 'sluice\r\n'.padEnd(32, '\0')) {
          client.write(byte);
          // oxlint-disable-next-line no-await-in-loop -- one after the other
          await realDelay(100);
        }
      }),
  ],
  'another program': [/^store: another program answers/, () => answeredBy('SSH-2.0-OpenSSH\r\n')],
  'a file that is not a socket': [
    /^socket: .* is not a socket/,
    () => {
      const socket = newSocket();
      writeFileSync(`${socket}.1`, '');
      return socket;
    },
  ],
  'a socket that others may use': [
    /^permissions: other users may connect \(0666\)/,
    () => withMode((s) => `${s}.1`, 0o666),
  ],
  'a folder that others may write to': [
    /^folder: .* can be written by other users \(0777\)/,
    () => withMode((s) => join(s, '..'), 0o777),
  ],
  'a folder that does not exist': [/^folder: \S+ is not a folder/, () => join(newSocket(), 'gone', 'app.sock')],
};

test.each(Object.entries(WRONG))('sluice doctor names %s', async (_, [said, make]) => {
  const { code, wrong } = await diagnosis(['--store', `host:${await make()}`, '--timeout', '500']);
  expect(wrong).toContainEqual(expect.stringMatching(said));
  expect(code).toBe(1);
});

test('sluice doctor is silent on a socket that is served, and changes nothing', async () => {
  const socket = await served();
  const before = readdirSync(join(socket, '..'));
  expect(await diagnosis(['--store', `host:${socket}`])).toEqual({ code: 0, wrong: [], notes: [] });
  expect(readdirSync(join(socket, '..'))).toEqual(before);
  const { out } = await run(['doctor', '--deadline', '60s', '--store', `host:${socket}`]);
  expect(out).toMatch(/^ok {5}protocol +version \d+$/m);
});

test('sluice doctor does not become the process that serves', async () => {
  const socket = newSocket();
  await diagnosis(['--store', `host:${socket}`]);
  expect(readdirSync(join(socket, '..'))).toEqual([]);
});

test.each([
  ['a path that is not absolute', 'host:app.sock', 'absolute path'],
  ['another database', 'mysql://host/database', '`--store` must be a URL that begins with redis://'],
])('%s is wrong use', async (_, store, complaint) => {
  const err = expect.stringContaining(complaint) as string;
  expect(await run(['doctor', '--store', store])).toMatchObject({ code: 2, err });
});
