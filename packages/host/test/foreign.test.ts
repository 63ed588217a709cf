import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hostStore, type HostStore, type HostStoreEvent } from '@sluice/host';
import type { StoreOperation } from '@sluice/core/store';
import { FrameWriter } from '../src/wire/frame-writer.ts';
import { encodeHello, HELLO_BYTES, NO_ID, OLDEST_VERSION, PROTOCOL_VERSION } from '../src/wire/hello.ts';
import { encodeOperation } from '../src/wire/operation-codec.ts';
import { ownFolder } from './own-folder.ts';
import { afterHello, frameOf, rawServer } from './raw-peer.ts';

const CHECK = { kind: 'check', alternatives: [[]] } as const;

const own = ownFolder();

function open(onEvent?: (event: HostStoreEvent) => void): HostStore {
  const store = hostStore({ socket: own.socket, log: false, onEvent });
  own.opened.push(store);
  return store;
}

const hello = (version = PROTOCOL_VERSION): Buffer =>
  encodeHello({ version, pid: 1, hostMicros: 0, id: NO_ID, turn: 0 });

function header(bytes: number, count: number): Buffer {
  const frame = Buffer.alloc(8);
  frame.writeUInt32LE(bytes, 0);
  frame.writeUInt32LE(count, 4);
  return frame;
}

describe('bytes that are not those of a client', () => {
  const cases: readonly (readonly [string, Buffer, RegExp])[] = [
    [
      'a request of HTTP',
      Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'),
      /sent 'GET \/ HT', so it is not a host store/,
    ],
    [
      'a version before the last two',
      hello(OLDEST_VERSION - 1),
      /has version 3 of the protocol, and this process versions 4 and 5/,
    ],
    ['a frame that is too large', Buffer.concat([hello(), header(2 ** 31, 1)]), /sent a frame of 2147483648 bytes/],
    ['a frame without a body', Buffer.concat([hello(), header(0, 0)]), /sent a frame of 0 bytes/],
    [
      'more numbers than the frame has',
      Buffer.concat([hello(), header(8, 9), Buffer.alloc(8)]),
      /fewer numbers than its header announces/,
    ],
    ['an unknown operation', Buffer.concat([hello(), frameOf(99, 0)]), /unknown operation/],
    ['half an operation', Buffer.concat([hello(), frameOf(0)]), /too short/],
    ['more entries than the frame has', Buffer.concat([hello(), frameOf(2, 0, 1e9)]), /no 1000000000 entries/],
    ['a fraction of an entry', Buffer.concat([hello(), frameOf(2, 0, 0.5)]), /no 0.5 entries/],
    ['an unknown kind of entry', Buffer.concat([hello(), frameOf(2, 0, 1, 1e9)]), /unknown kind of entry/],
    ['an entry without a limit', Buffer.concat([hello(), frameOf(2, 0, 1, 1024)]), /without a limit/],
    ['a text that the frame does not have', Buffer.concat([hello(), frameOf(2, 0, 1, 0, 5)]), /text is too short/],
    ['a text of a negative length', Buffer.concat([hello(), frameOf(2, 0, 1, 0, -1)]), /text is too short/],
  ];

  test.each(cases)(
    '%s ends the connection with an event, and leaves the other clients connected',
    async (_, bytes, cause) => {
      const events: HostStoreEvent[] = [];
      const serving = open((event) => events.push(event));
      await serving.ready();
      const asking = open();
      await asking.ready();
      const client = createConnection({ path: `${own.socket}.1` });
      client.resume();
      client.write(bytes);
      await once(client, 'close');
      const rejected = events.find(({ type }) => type === 'client-rejected');
      expect(rejected?.message).toMatch(cause);
      await expect(asking.run(CHECK)).resolves.toMatchObject({ levelsTicks: [] });
      expect(serving.status()).toMatchObject({ role: 'serving', clients: 1 });
    },
  );

  test('bytes may arrive one at a time', async () => {
    const serving = open();
    await serving.ready();
    const client = createConnection({ path: `${own.socket}.1` });
    const received: Buffer[] = [];
    client.on('data', (chunk: Buffer) => received.push(chunk));
    // A check of one batch without transactions.
    for (const byte of Buffer.concat([hello(), frameOf(1, 0, 1, 0)])) client.write(Buffer.from([byte]));
    await expect.poll(() => Buffer.concat(received).length).toBe(32 + 8 + 32);
    client.destroy();
  });
});

describe('many connections that are not those of a client', () => {
  /** It is longer than a day, so that no token comes back meanwhile. */
  const TOKEN_TICKS = 2 ** 41;
  const bucket = { limit: 'Orders', id: 'ann', fitTicks: 100 * TOKEN_TICKS, capTicks: 100 * TOKEN_TICKS };
  const spend: StoreOperation = {
    kind: 'spend',
    alternatives: [[{ ...bucket, mode: 'check-and-spend', incrementTicks: TOKEN_TICKS }]],
  };
  const check: StoreOperation = {
    kind: 'check',
    alternatives: [[{ ...bucket, mode: 'check-only', incrementTicks: 0 }]],
  };

  function callOf(operation: StoreOperation): Buffer {
    const writer = new FrameWriter();
    encodeOperation(writer, operation, 0);
    return Buffer.concat([hello(), writer.take()]);
  }

  const whole = callOf(spend);
  const versions = [0, OLDEST_VERSION - 1, PROTOCOL_VERSION + 1, 2 ** 32 - 1];
  const lengths = [2 ** 31, 2 ** 32 - 1];

  test.each([
    ['parts of a call', Array.from(whole.subarray(1), (_, bytes) => whole.subarray(0, bytes + 1))],
    ['garbage', Array.from({ length: 64 }, (_, i) => whole.map((byte, at) => byte ^ (37 * i + 101 * at + 1)))],
    ['giant lengths', lengths.map((bytes) => Buffer.concat([hello(), header(bytes, 2 ** 32 - 1)]))],
    ['other versions', versions.map((version) => Buffer.concat([hello(version), whole.subarray(HELLO_BYTES)]))],
  ])('%s take no token and leave no connection, and others are answered meanwhile', async (_, all) => {
    const serving = open();
    await serving.ready();
    const asking = open();
    await asking.ready();
    const leaveAtOnce = all.map((bytes) => {
      const client = createConnection({ path: `${own.socket}.1` }).on('error', () => {});
      client.write(bytes, () => client.destroy());
      return once(client, 'close');
    });
    // These leave when the server has read all that they have sent.
    const leaveLast = all.map((bytes) => {
      const client = createConnection({ path: `${own.socket}.1` }).on('error', () => {});
      client.resume().end(bytes);
      return once(client, 'close');
    });
    await asking.run(spend);
    await Promise.all([...leaveAtOnce, ...leaveLast]);
    await expect.poll(() => serving.status()).toMatchObject({ role: 'serving', clients: 1 });
    const { levelsTicks } = await asking.run(check);
    expect(Math.ceil(levelsTicks[0]! / TOKEN_TICKS)).toBe(1);
  });
});

describe('bytes that are not those of a server', () => {
  const serve = (onClient: (client: Socket) => void) => rawServer(own.socket, onClient);

  test.each([
    ['another version', hello(1), /has version 1 of the protocol/],
    ['another program', Buffer.from('220 mail.example ESMTP, and more than 32 bytes'), /so it is not a host store/],
  ])('%s fails calls at once with the reason, until it has ended', async (_, bytes, reason) => {
    const end = await serve((client) => client.write(bytes));
    const reports: string[] = [];
    const store = open();
    store.watch(({ type }) => reports.push(type));
    await expect(store.run(CHECK)).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(reason) as string,
    });
    await expect(store.ready({ timeoutMs: 1 })).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(reason) as string,
    });
    expect(store.status().role).toBe('down');
    expect(reports).toEqual(['down']);
    end();
    await store.ready();
    expect(store.status().role).toBe('serving');
    expect(reports).toEqual(['down', 'up']);
    await expect(store.run(CHECK)).resolves.toMatchObject({ levelsTicks: [] });
  });

  test('a server that ends connections is asked again until it has ended', async () => {
    let connections = 0;
    const end = await serve((client) => {
      connections++;
      client.destroy();
    });
    const store = open();
    await expect.poll(() => connections).toBeGreaterThan(2);
    await expect(store.run(CHECK, 20)).rejects.toMatchObject({ code: 'ERR_STORE_DEADLINE' });
    end();
    await store.ready();
    expect(store.status().role).toBe('serving');
  });

  test.each([
    ['an unknown answer', frameOf(99)],
    ['more than was asked for', frameOf(0, 0, 1, 0, 7)],
    ['half an answer', frameOf(0)],
  ])('%s fails the call, and the server is asked again', async (_, answer) => {
    const end = await serve((client) => {
      client.write(hello());
      afterHello(client, () => client.write(answer));
    });
    const store = open();
    await store.ready();
    await expect(store.run(CHECK)).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
    end();
    await store.ready();
    expect(store.status().role).toBe('serving');
  });

  test('an answer to nothing ends the connection', async () => {
    const end = await serve((client) => client.write(Buffer.concat([hello(), frameOf(0, 0, 1, 0)])));
    const store = open();
    await expect
      .poll(() => store.status().lastError?.cause)
      .toMatchObject({
        message: expect.stringContaining('sent an answer to nothing') as string,
      });
    end();
    await store.ready();
  });

  test('a call that a server has not answered fails if the same server is found again', async () => {
    const end = await serve((client) => {
      client.write(hello());
      afterHello(client, () => client.destroy());
    });
    const store = open();
    await store.ready();
    await expect(store.run(CHECK)).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringContaining('may have executed the call') as string,
    });
    end();
  });
});

describe('files that are not sockets', () => {
  test('a file with the name of a socket fails calls, and is left alone', async () => {
    writeFileSync(`${own.socket}.7`, 'mine');
    const store = open();
    await expect(store.run(CHECK)).rejects.toThrow(`${own.socket}.7 is not a socket`);
    rmSync(`${own.socket}.7`);
    await store.ready();
    expect(readdirSync(own.path)).toEqual(['limits.sock.1']);
  });

  test('files with other names are left alone', async () => {
    for (const name of ['limits.sock', 'limits.sock.0', 'limits.sock.01', 'limits.sock.bak', 'other.sock.9']) {
      writeFileSync(join(own.path, name), '');
    }
    await open().ready();
    expect(readdirSync(own.path)).toEqual([
      'limits.sock',
      'limits.sock.0',
      'limits.sock.01',
      'limits.sock.1',
      'limits.sock.bak',
      'other.sock.9',
    ]);
  });

  test('a folder that does not exist fails calls at once, with the reason', async () => {
    own.socket = join(own.path, 'missing', 'limits.sock');
    const store = open();
    const remedy = 'The folder of `socket` must exist, and this process needs the permission to create files in it.';
    await expect(store.run(CHECK)).rejects.toThrow(/ENOENT/);
    await expect(store.run(CHECK)).rejects.toThrow(remedy);
    await expect(store.ready({ timeoutMs: 1 })).rejects.toThrow(remedy);
    const reports: unknown[] = [];
    store.watch((report) => reports.push(report));
    expect(reports).toMatchObject([{ type: 'down' }]);
  });
});
