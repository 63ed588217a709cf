import { SluiceError } from '@sluice/core';
import type { StoreOperation } from '@sluice/core/store';
import { hostStore, type HostStore } from '@sluice/host';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SocketFiles } from '../src/election/socket-files.ts';
import { hostMicros } from '../src/serving/host-clock.ts';
import { decodeAnswer, encodeError } from '../src/wire/answer-codec.ts';
import type { Frame } from '../src/wire/frame.ts';
import { FrameWriter } from '../src/wire/frame-writer.ts';
import { encodeHello, NO_ID, PROTOCOL_VERSION } from '../src/wire/hello.ts';
import { MessageReader } from '../src/wire/message-reader.ts';
import { decodeOperation } from '../src/wire/operation-codec.ts';
import { ownFolder } from './own-folder.ts';
import { afterHello, frameOf, rawServer } from './raw-peer.ts';

const CHECK: StoreOperation = { kind: 'check', alternatives: [[]] };

const own = ownFolder();

function open(): HostStore {
  const store = hostStore({ socket: own.socket, log: false });
  own.opened.push(store);
  return store;
}

const hello = (): Buffer =>
  encodeHello({ version: PROTOCOL_VERSION, pid: 1, hostMicros: hostMicros(), id: NO_ID, turn: 0 });

async function serve(onClient: (client: Socket) => void): Promise<void> {
  own.opened.push({ close: await rawServer(own.socket, onClient) });
}

/** Serves, and answers the first frame that comes after the hello. */
function serveAnswer(answer: Buffer): Promise<void> {
  return serve((client) => {
    client.write(hello());
    afterHello(client, () => client.write(answer));
  });
}

function frameOfError(error: Error): Buffer {
  const writer = new FrameWriter();
  encodeError(writer, error);
  return writer.take();
}

/** Sends a frame to the store that serves, and returns the numbers of its answer. */
async function answersTo(frame: Buffer): Promise<readonly number[]> {
  const client = createConnection({ path: `${own.socket}.1` });
  own.opened.push({ close: () => client.destroy() });
  const answered = new Promise<readonly number[]>((resolve) => {
    const onFrame = (answer: Frame): void => {
      const numbers: number[] = [];
      while (!answer.isAtEnd) numbers.push(answer.number());
      resolve(numbers);
    };
    const reader = new MessageReader({ onHello() {}, onFrame });
    client.on('data', (chunk: Buffer) => reader.push(chunk));
  });
  client.write(Buffer.concat([hello(), frame]));
  return answered;
}

describe('deadlines', () => {
  test('an operation whose deadline has passed is not executed', async () => {
    await open().ready();
    const past = hostMicros() - 1;
    const future = hostMicros() + 60_000_000;
    // Two checks of a batch without transactions. The first is answered by the status "expired" alone.
    const numbers = await answersTo(frameOf(1, past, 1, 0, 1, future, 1, 0));
    expect(numbers).toEqual([3, 0, 0, expect.any(Number), 0]);
  });

  test('a call that the server found late has missed its deadline', async () => {
    await serveAnswer(frameOf(3));
    await expect(open().run(CHECK, 10_000)).rejects.toMatchObject({ code: 'ERR_STORE_DEADLINE' });
  });

  test.each([
    ['a decision', frameOf(0, 0, 1, 0)],
    ['an error', frameOfError(new Error('out of luck'))],
    ['a missed deadline', frameOf(3)],
  ])('an answer that comes late changes nothing: %s', async (_name, late) => {
    let answer = (): void => {};
    await serve((client) => {
      client.write(hello());
      afterHello(client, () => (answer = () => void client.write(late)));
    });
    const store = open();
    await store.ready();
    await expect(store.run(CHECK, 1)).rejects.toMatchObject({
      code: 'ERR_STORE_DEADLINE',
      message: expect.stringContaining('Process 1') as string,
    });
    answer();
    await expect(store.run(CHECK, 20)).rejects.toMatchObject({ code: 'ERR_STORE_DEADLINE' });
    expect(store.status().role).toBe('asking');
  });

  test('a server that sends nothing keeps calls and ready() waiting, at most until their deadline', async () => {
    await serve(() => {});
    const store = open();
    await expect(store.run(CHECK, 20)).rejects.toMatchObject({
      code: 'ERR_STORE_DEADLINE',
      message: expect.stringContaining('No process answered') as string,
    });
    await expect(store.ready({ timeoutMs: 20 })).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringContaining('the process that serves does not answer') as string,
    });
  });
});

describe('frames', () => {
  test('32 calls are sent without waiting for the end of the turn, and the others of the turn together', async () => {
    const sizes: number[] = [];
    await serve((client) => {
      const onFrame = (frame: Frame): void => {
        let count = 0;
        for (; !frame.isAtEnd; count++) decodeOperation(frame);
        sizes.push(count);
      };
      const reader = new MessageReader({ onHello() {}, onFrame });
      client.on('data', (chunk: Buffer) => reader.push(chunk));
      client.write(hello());
    });
    const store = open();
    await store.ready();
    const calls = Array.from({ length: 72 }, () => store.run(CHECK, 10_000));
    const settled = Promise.allSettled(calls);
    await expect.poll(() => sizes).toEqual([32, 32, 8]);
    await store.close();
    await settled;
  });

  test('frames that arrive together are answered by as many frames', async () => {
    await open().ready();
    const checks = frameOf(1, 0, 1, 0, 1, 0, 1, 0);
    const answered: number[] = [];
    const client = createConnection({ path: `${own.socket}.1` });
    own.opened.push({ close: () => client.destroy() });
    const onFrame = (frame: Frame): void => {
      let count = 0;
      for (; !frame.isAtEnd; count++) decodeAnswer(frame, CHECK);
      answered.push(count);
    };
    const reader = new MessageReader({ onHello() {}, onFrame });
    client.on('data', (chunk: Buffer) => reader.push(chunk));
    client.write(Buffer.concat([hello(), checks, checks, checks]));
    await expect.poll(() => answered).toEqual([2, 2, 2]);
  });
});

describe('errors of the server', () => {
  test('an unexpected error fails the call with its text', () => {
    const answers: unknown[] = [];
    const onFrame = (frame: Frame): unknown => answers.push(decodeAnswer(frame, CHECK));
    new MessageReader({ onHello() {}, onFrame }).push(Buffer.concat([hello(), frameOfError(new Error('out of luck'))]));
    expect(answers).toMatchObject([{ code: 'ERR_STORE_UNAVAILABLE' }]);
    expect((answers[0] as SluiceError).message).toContain('out of luck');
  });

  test('a stale period is an error of the server if the call has none', async () => {
    await serveAnswer(frameOf(2, Date.now()));
    await expect(open().run(CHECK, 10_000)).rejects.toMatchObject({ code: 'ERR_STORE_ANSWER' });
  });
});

describe('peers that do not read', () => {
  test('calls wait while the server does not read, and are sent when it does', async () => {
    let server: Socket | undefined;
    let received = 0;
    await serve((client) => {
      client.write(hello());
      client.once('data', () => client.pause());
      server = client;
    });
    const store = open();
    await store.ready();
    const id = 'x'.repeat(1_000_000);
    const entry = { limit: 'Orders', id, incrementTicks: 1, fitTicks: 9, capTicks: 9, mode: 'check-only' } as const;
    const calls = Array.from({ length: 5 }, () => store.run({ kind: 'check', alternatives: [[entry]] }, 10_000));
    const settled = Promise.allSettled(calls);
    await expect.poll(() => server?.isPaused()).toBe(true);
    server!.on('data', (chunk: Buffer) => (received += chunk.length));
    server!.resume();
    await expect.poll(() => received).toBeGreaterThan(5_000_000);
    await store.close();
    expect((await settled).every(({ status }) => status === 'rejected')).toBe(true);
  });

  test('a client that does not read its answers is disconnected, and no other', async () => {
    const store = open();
    await store.ready();
    const client = createConnection({ path: `${own.socket}.1` });
    own.opened.push({ close: () => client.destroy() });
    const ended = new Promise<void>((resolve) => client.once('error', () => resolve()));
    client.write(hello());
    const writer = new FrameWriter();
    for (let i = 0; i < 100_000; i++) for (const number of [1, 0, 1, 0]) writer.number(number);
    const checks = writer.take();
    for (let i = 0; i < 12; i++) client.write(checks);
    await ended;
    await expect.poll(() => store.status().clients).toBe(0);
    await expect(store.run(CHECK)).resolves.toMatchObject({ levelsTicks: [] });
  });
});

describe('files', () => {
  test('a process that was late finds a higher number, and withdraws', async () => {
    const files = new SocketFiles(own.socket);
    const first = await files.publish(5, () => {});
    own.opened.push({ close: () => first!.server.close() });
    expect(first).toMatchObject({ generation: 5 });
    expect(await files.publish(2, () => {})).toBeUndefined();
    expect(await files.publish(5, () => {})).toBeUndefined();
    expect(readdirSync(own.path)).toEqual(['limits.sock.5']);
    expect(files.isCurrent(first!)).toBe(true);
    expect(await files.connect(2)).toBe('gone');
  });

  test('while its folder does not exist, the serving process keeps its buckets, and then makes a new socket', async () => {
    const store = open();
    await store.ready();
    rmSync(own.path, { recursive: true });
    await expect(store.run(CHECK)).resolves.toMatchObject({ levelsTicks: [] });
    mkdirSync(own.path);
    await expect.poll(() => readdirSync(own.path)).toEqual(['limits.sock.1']);
    const asking = open();
    await asking.ready();
    expect(asking.status().role).toBe('asking');
  });

  test('a store that is closed while it connects leaves nothing', async () => {
    const serving = open();
    await serving.ready();
    for (let i = 0; i < 5; i++) {
      const early = hostStore({ socket: own.socket, log: false });
      // oxlint-disable-next-line no-await-in-loop -- later each time
      for (let turns = 0; turns < i; turns++) await new Promise((resolve) => void setImmediate(resolve));
      // oxlint-disable-next-line no-await-in-loop
      await early.close();
    }
    await expect.poll(() => serving.status().clients).toBe(0);
  });

  test('a store that can not join emits no event after it is closed', async () => {
    own.socket = join(own.path, 'missing', 'limits.sock');
    const roles: string[] = [];
    const store = hostStore({
      socket: own.socket,
      log: false,
      onEvent: (event) => event.type === 'role' && roles.push(event.role),
    });
    await store.close();
    await new Promise((resolve) => void setImmediate(resolve));
    expect(roles).toEqual(['closed']);
  });
});
