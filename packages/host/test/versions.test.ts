import type { StoreOperation } from '@sluice/core/store';
import { hostStore, type HostStore, type HostStoreEvent } from '@sluice/host';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { FrameWriter } from '../src/wire/frame-writer.ts';
import { encodeHello, HELLO_BYTES, NO_ID, OLDEST_VERSION, PROTOCOL_VERSION } from '../src/wire/hello.ts';
import { encodeOperation } from '../src/wire/operation-codec.ts';
import { ownFolder } from './own-folder.ts';
import { frameOf, rawServer } from './raw-peer.ts';

const CHECK: StoreOperation = { kind: 'check', alternatives: [[]] };
/** The answer to it. */
const CHECKED = frameOf(0, 0, 7, 0);

const own = ownFolder();

function open(onEvent?: (event: HostStoreEvent) => void): HostStore {
  const store = hostStore({ socket: own.socket, log: false, onEvent });
  own.opened.push(store);
  return store;
}

const hello = (version: number, id = NO_ID): Buffer => encodeHello({ version, pid: 1, hostMicros: 0, id, turn: 0 });

function versionIn(bytes: Buffer): number {
  return bytes.readUInt32LE(8);
}

/** All that a server sends to a client before it ends the connection. */
async function received(...bytes: readonly Buffer[]): Promise<Buffer> {
  const client = createConnection({ path: `${own.socket}.1` });
  const chunks: Buffer[] = [];
  client.on('data', (chunk: Buffer) => chunks.push(chunk));
  client.end(Buffer.concat(bytes));
  await once(client, 'close');
  return Buffer.concat(chunks);
}

function checkFrame(): Buffer {
  const writer = new FrameWriter();
  encodeOperation(writer, CHECK, 0);
  return writer.take();
}

test.each([OLDEST_VERSION, PROTOCOL_VERSION])('a client of version %i is answered in its version', async (version) => {
  const events: HostStoreEvent[] = [];
  await open((event) => events.push(event)).ready();
  const bytes = await received(hello(version), checkFrame());
  expect(versionIn(bytes)).toBe(version);
  expect(bytes).toHaveLength(HELLO_BYTES + CHECKED.length);
  expect(events.map(({ type }) => type)).toEqual(['role']);
});

test('a client of a later version learns the versions of the server from its hello, without an event', async () => {
  const events: HostStoreEvent[] = [];
  await open((event) => events.push(event)).ready();
  const bytes = await received(hello(PROTOCOL_VERSION + 1), checkFrame());
  expect(versionIn(bytes)).toBe(PROTOCOL_VERSION);
  expect(bytes).toHaveLength(HELLO_BYTES);
  expect(events.map(({ type }) => type)).toEqual(['role']);
});

/** Serves in one version alone, and ends the connection of a client of another version, as the first versions did. */
function strictServer(version: number, said: number[], onFrame: (client: Socket) => void) {
  return rawServer(own.socket, (client) => {
    client.write(hello(version, '0123456789ab'));
    client.once('data', (chunk: Buffer) => {
      said.push(versionIn(chunk));
      if (versionIn(chunk) !== version) return client.destroySoon();
      client.on('data', () => onFrame(client));
      if (chunk.length > HELLO_BYTES) onFrame(client);
    });
  });
}

test('a server of the version before is asked in that version, by one more connection', async () => {
  const said: number[] = [];
  const end = await strictServer(OLDEST_VERSION, said, (client) => client.write(CHECKED));
  const events: HostStoreEvent[] = [];
  const store = open((event) => events.push(event));
  await expect(store.run(CHECK)).resolves.toMatchObject({ nowTicks: 7 });
  expect(said).toEqual([PROTOCOL_VERSION, OLDEST_VERSION]);
  expect(events.map((event) => (event.type === 'role' ? event.role : event.type))).toEqual(['asking']);
  end();
  await expect.poll(() => store.status().role).toBe('serving');
});

test('a server of the version before is not asked for holders, which it does not know', async () => {
  let frames = 0;
  const end = await strictServer(OLDEST_VERSION, [], () => frames++);
  const store = open();
  const bucket = { limit: 'Slots', id: 'a', slots: true } as const;
  await expect(store.holders([bucket, { ...bucket, id: 'b' }])).resolves.toEqual([[], []]);
  expect(frames).toBe(0);
  end();
});

test('after a server of the version before, the next one is asked in the newest version', async () => {
  const said: number[] = [];
  const end = await strictServer(OLDEST_VERSION, said, (client) => client.write(CHECKED));
  const store = open();
  await store.ready();
  const next = open();
  await next.ready();
  end();
  await expect.poll(() => [store.status().role, next.status().role].toSorted()).toEqual(['asking', 'serving']);
  const [asking] = [store, next].filter((each) => each.status().role === 'asking');
  const bucket = { limit: 'Slots', id: 'a', slots: true } as const;
  const hold = { ...bucket, holder: 'h', expiryMs: 60_000, first: 1, count: 1 };
  await asking!.run({ kind: 'renew', batch: [hold] });
  await expect(asking!.holders([bucket])).resolves.toEqual([['h']]);
});

test('buckets are handed over in the version before, which a process of either version reads', async () => {
  const first = open();
  await first.ready();
  await first.close();
  expect(versionIn(readFileSync(`${own.socket}.handover`))).toBe(OLDEST_VERSION);
});
