import { memoryStore, type Store } from '@sluice/core';
import { storeGuard } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { connect } from 'node:http2';
import { expect, onTestFinished, test } from 'vitest';
import { descriptor, envoyOf } from '../../../test/service/envoy.ts';
import { bytesField, call, frame, text } from '../../../test/service/raw-call.ts';
import { metricLines, served } from '../../../test/service/served.ts';

const LIMITS = 'PerClient: { count: 5, period: 1h, idFormat: by }';
const TABLES = `
envoy:
  ingress:
    rules:
      - { descriptor: [client], limit: PerClient }
      - { descriptor: [used], limit: PerClient, report: charge }
`;
const entryOf = (key: string) =>
  bytesField(2, bytesField(1, [...bytesField(1, text(key)), ...bytesField(2, text('a'))]));
const CALL = frame([...bytesField(1, text('ingress')), ...entryOf('client')]);
const MIXED = frame([...bytesField(1, text('ingress')), ...entryOf('client'), ...entryOf('used')]);

/** A store that decides at once, and whose answers are held until they are let go. */
function heldStore(time: FakeTime) {
  const inner = memoryStore({ time });
  let held: (() => void)[] = [];
  const hold = { on: true };
  const store: Store = {
    guard: storeGuard,
    traits: { periods: true },
    run(operation) {
      const reading = inner.run(operation);
      return new Promise((resolve) => (hold.on ? held.push(() => resolve(reading)) : resolve(reading)));
    },
    close: () => inner.close(),
  };
  /** Lets all answers go, now and from now on. */
  const release = (): void => {
    hold.on = false;
    for (const answer of held) answer();
    held = [];
  };
  return { store, release, arrived: () => held.length };
}

async function ingress({ isHeld = false } = {}) {
  const time = new FakeTime(Date.UTC(2026, 10, 24, 12));
  const { store, release, arrived } = heldStore(time);
  const options = isHeld ? { store, failure: { deadlineMs: 60_000 } } : {};
  const { servers, service } = await served(LIMITS, TABLES, { time, ...options });
  const session = connect(`http://127.0.0.1:${servers.ports.grpc}`);
  onTestFinished(() => session.destroy());
  const envoy = envoyOf(servers.ports.grpc);
  const ask = () => envoy.ask({ domain: 'ingress', descriptors: [descriptor({ client: 'a' })] });
  /** The second field of the answer is its overall code: 1 is OK, 2 OVER_LIMIT. */
  const codeOf = async (body: Uint8Array, timeout: string) => {
    const { status, answer } = await call(session, body, { 'grpc-timeout': timeout });
    return status === '0' ? answer[6] : status;
  };
  return { service, time, release, arrived, ask, codeOf };
}

test('a call that has no time left is denied and takes nothing', async () => {
  const { ask, codeOf, service } = await ingress();
  expect([await codeOf(CALL, '0m'), await codeOf(CALL, '0n')]).toEqual([2, 2]);
  expect(metricLines(service)).toContain('sluice_deadline_denials_total{limit=""} 2');
  expect((await ask()).statuses[0]!.limit_remaining).toBe(4);
});

test.each(['1', '20', '-1m', '1.5S', '999999999S', '5s', '5S, 5S'])(
  'a grpc-timeout of %s is ignored',
  async (timeout) => {
    const { codeOf } = await ingress();
    expect(await codeOf(CALL, timeout)).toBe(1);
  },
);

test('a call is denied when its caller gives up, and what the store takes later is given back', async () => {
  const { ask, codeOf, time, release, arrived } = await ingress({ isHeld: true });
  const late = [codeOf(CALL, '20m'), codeOf(CALL, '20m')];
  const patient = codeOf(CALL, '1H');
  await expect.poll(arrived).toBe(3);
  time.advance(20);
  expect(await Promise.all(late)).toEqual([2, 2]);
  release();
  expect(await patient).toBe(1);
  expect((await ask()).statuses[0]!.limit_remaining).toBe(3);
});

test('what is charged is charged, although the decision beside it comes too late', async () => {
  const { ask, codeOf, time, release, arrived } = await ingress({ isHeld: true });
  const late = codeOf(MIXED, '20m');
  await expect.poll(arrived).toBe(1);
  time.advance(20);
  // The charge.
  await expect.poll(arrived).toBe(2);
  release();
  expect(await late).toBe(2);
  expect((await ask()).statuses[0]!.limit_remaining).toBe(3);
});
