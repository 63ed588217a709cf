import { accountId, createLimiter, memoryStore } from '@sluice/core';
import { restore } from '@sluice/core/dump';
import { INSTRUMENTS } from '@sluice/core/metrics';
import { storeBlocks } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { hostStore } from '@sluice/host';
import { once } from 'node:events';
import { chmodSync, copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { folder } from '../../host/socket-path.ts';
import { textOf } from '../changed-text.ts';
import { BLOCKS, BLOCKS_TEXT, USED, useAndMakeAgain } from './blocks.ts';
import { countsIn, FOUND, LOOK, MADE_MS, SENT } from './buckets.mjs';
import { eventTypesIn } from './event-types.ts';
import { sampleBytes, samplePath, sampleValue } from './sample.ts';

const HELLO_BYTES = 32;
const HEADER_BYTES = 8;

const paths = folder();
afterAll(() => paths.delete());

test('a dump of a memory store is read, without the slots, which a dump does not have', () => {
  const store = memoryStore({ time: new FakeTime(MADE_MS) });
  restore(store, sampleBytes('memory.dump'));
  expect(countsIn(store.run(LOOK))).toEqual([FOUND[0], FOUND[1], 0]);
});

test('what a host store has handed over is taken over', async () => {
  const socket = paths.newSocket();
  copyFileSync(samplePath('host.handover'), `${socket}.handover`);
  chmodSync(`${socket}.handover`, 0o600);
  const events: string[] = [];
  const time = new FakeTime(MADE_MS);
  const store = hostStore({ socket, time, log: false, onEvent: ({ type }) => events.push(type) });
  await store.ready();
  expect(countsIn(await store.run(LOOK))).toEqual(FOUND);
  expect(events).toEqual(['role']);
  await store.close();
});

test('what a client of a host store sends is executed, and answered in its version', async () => {
  const socket = paths.newSocket();
  const events: string[] = [];
  const store = hostStore({ socket, log: false, onEvent: ({ type }) => events.push(type) });
  await store.ready();
  const client = createConnection({ path: `${socket}.1` });
  const chunks: Buffer[] = [];
  client.on('data', (chunk: Buffer) => chunks.push(chunk));
  client.end(sampleBytes('host.client'));
  await once(client, 'close');
  const bytes = Buffer.concat(chunks);
  expect(bytes.readUInt32LE(8)).toBe(4);
  expect(statusesIn(bytes.subarray(HELLO_BYTES))).toHaveLength(SENT.length);
  // All that was sent: three slots were taken and all were reset, one of three tokens was left by `cap`.
  expect(countsIn(await store.run(LOOK))).toEqual([6, 1, 0]);
  expect(events).toEqual(['role']);
  await store.close();
});

/** Answers in one frame, each of which begins with its status: 0 for a reading, 1 for one with periods. */
function statusesIn(frame: Buffer): readonly number[] {
  const count = frame.readUInt32LE(4);
  const numbers = Array.from({ length: count }, (_, i) => frame.readDoubleLE(HEADER_BYTES + 8 * i));
  const statuses: number[] = [];
  for (let at = 0; at < count;) {
    const status = numbers[at]!;
    statuses.push(status);
    at += 4 + numbers[at + 3]! * (status === 1 ? 3 : 1);
  }
  return statuses;
}

test('blocks of a host store are read, and written on', async () => {
  const socket = paths.newSocket();
  const fileOf = (number: number): string => `${socket}.blocks.${number}`;
  writeFileSync(fileOf(7), BLOCKS_TEXT, { mode: 0o600 });
  const store = hostStore({ socket, log: false });
  const used = await useAndMakeAgain(store.blocks!, async () => ({ text: readFileSync(fileOf(10), 'utf8') }));
  expect(used).toEqual(USED);
  await store.close();
});

test('a limiter writes a block as a version before has written it', async () => {
  let written = '';
  const write = (_: string, text: string): boolean => (written = text) !== '';
  const time = new FakeTime(MADE_MS);
  const store = Object.assign(memoryStore({ time }), { blocks: storeBlocks({ read: () => '', write }, time) });
  const limiter = createLimiter({ limits: { Orders: { key: accountId(), count: 1, period: '1s' } }, store, time });
  const [{ untilMs, ...block }] = BLOCKS;
  await limiter.block([{ ...block, forMs: untilMs - MADE_MS }]);
  expect(written.slice(16)).toBe(` {"version":1,"blocks":[${JSON.stringify(BLOCKS[0])}]}`);
});

test('no type of event is gone or has another name', () => {
  const reports = readdirSync(new URL('../../../api', import.meta.url));
  const now = eventTypesIn(reports, (name) => textOf(`api/${name}`));
  expect(now).toEqual(expect.arrayContaining(sampleValue('events.json') as string[]));
});

test('no metric is gone, or has another name, unit, attribute or class', () => {
  const now = new Map(INSTRUMENTS.map((metric) => [metric.name, metric]));
  for (const metric of sampleValue('metrics.json') as { name: string; attributes: string[] }[]) {
    const { name, type, unit, attributes = [], bounds } = now.get(metric.name) ?? {};
    expect({ name, type, unit, attributes, bounds }).toEqual({
      ...metric,
      attributes: expect.arrayContaining(metric.attributes) as string[],
      bounds: (metric as { bounds?: number[] }).bounds,
    });
  }
});
