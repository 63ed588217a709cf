import { FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import type { StoreReading } from '@sluice/core/store';
import { readingOf, type BatchKind, type BatchRequestParts } from '../../src/batches/batch-request.ts';
import { ClusterDispatcher } from '../../src/batches/dispatcher.ts';
import type { ScriptClient } from '../../src/client/script-client.ts';
import type { ScriptRun } from '../../src/client/script-run.ts';
import { hour, hourly, order } from '../support/orders.ts';

/** A cluster whose servers take 30 ms for each call, with the calls that they got. */
function slowCluster() {
  const time = new FakeTime();
  const calls: ScriptRun[] = [];
  const send = (run: ScriptRun): void => {
    calls.push(run);
    if (calls.length % 2 === 0) time.advance(30);
    const nowTicks = (Date.now() - Date.UTC(2026, 0, 1)) * 16_000;
    run.answered([nowTicks, ...run.keys.map((key) => (key === 'full' ? 5 : 0))]);
  };
  const quiet = { onAnswer: () => {}, onFailure: () => {} };
  const client = { isCluster: true, send } as unknown as ScriptClient;
  const dispatcher = new ClusterDispatcher(client, time, { requests: quiet, refunds: quiet, onLostRefund: () => {} });
  const dispatch = (parts: Omit<BatchRequestParts, 'deadlineMs'>): Promise<StoreReading> => {
    return readingOf((sink) => dispatcher.send({ ...parts, deadlineMs: 100 }, sink));
  };
  const deadlinesOf = async (kind: BatchKind): Promise<readonly number[]> => {
    await dispatch({ kind, batch: [hourly('a'), hourly('b')], keys: ['a', 'b'] });
    return calls.map(({ deadlineMs }) => deadlineMs);
  };
  return { dispatch, deadlinesOf, dispatcher, calls };
}

test('what another slot has denied is given back in the period in which it was taken', async () => {
  const { dispatch, dispatcher, calls } = slowCluster();
  const batch = [hourly('a', 2), hourly('full')];
  await dispatch({ kind: 'spend', batch, keys: ['a', 'full'] });
  await dispatcher.drain();
  const [start, end, nextEnd] = hour().map((ms) => (ms - Date.UTC(2026, 0, 1)) * 16_000);
  expect(calls).toHaveLength(3);
  expect(calls.at(2)?.keys).toEqual(['a']);
  expect(calls.at(2)?.args).toEqual([2 ** 20 + 1, 10, nextEnd, end, start, (end ?? NaN) + 2, 6, 0, 2]);
});

test.each(['charge', 'refund', 'cap'] as const)(
  'a %s in periods over several slots, which first reads them, has one deadline for both',
  async (kind) => {
    expect(await slowCluster().deadlinesOf(kind)).toEqual([100, 100, 70, 70]);
  },
);

test.each(['check', 'reset'] as const)('a %s of buckets with a period is one call for each slot', async (kind) => {
  expect(await slowCluster().deadlinesOf(kind)).toEqual([100, 100]);
});

test('a charge reads only the slots with a period first', async () => {
  const { dispatch, calls } = slowCluster();
  const batch = [order('a'), hourly('b')];
  await dispatch({ kind: 'charge', batch, keys: ['a', 'b'] });
  expect(calls.map(({ keys }) => keys)).toEqual([['b'], ['a'], ['b']]);
});
