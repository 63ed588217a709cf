import type { StoreReading, StoreTransaction } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import { readingOf, type BatchObserver } from '../../src/batches/batch-request.ts';
import { joinAlternatives } from '../../src/batches/alternatives.ts';
import { ClusterDispatcher } from '../../src/batches/dispatcher.ts';
import type { ScriptClient } from '../../src/client/script-client.ts';
import type { ScriptRun } from '../../src/client/script-run.ts';

const observer: BatchObserver = { onAnswer() {}, onFailure() {} };

function alternative(key: string, deadlineMs: number) {
  const transaction: StoreTransaction = {
    limit: 'Orders',
    id: key,
    incrementTicks: 1,
    fitTicks: 5,
    capTicks: 5,
    mode: 'check-and-spend',
  };
  return { kind: 'spend', batch: [transaction], keys: [key], deadlineMs } as const;
}

/** A cluster in which every bucket is empty, and each call takes a while. */
function dispatcherOf(callMs: number) {
  const time = new FakeTime();
  const calls: ScriptRun[] = [];
  const client: Pick<ScriptClient, 'send'> = {
    send(run) {
      calls.push(run);
      time.advance(callMs);
      run.answered([7, ...run.keys.map(() => 5)]);
    },
  };
  const observers = { requests: observer, refunds: observer, onLostRefund() {} };
  return { calls, dispatcher: new ClusterDispatcher(client as ScriptClient, time, observers) };
}

function spendFirst(dispatcher: ClusterDispatcher): Promise<StoreReading> {
  const alternatives = ['a', 'b', 'c'].map((key) => alternative(key, 50));
  return readingOf((sink) => dispatcher.send(joinAlternatives(alternatives), sink));
}

test('alternatives in several slots share one deadline, whatever time the first take', async () => {
  const { calls, dispatcher } = dispatcherOf(20);
  expect((await spendFirst(dispatcher)).levelsTicks).toEqual([5, 5, 5]);
  expect(calls.map(({ deadlineMs }) => deadlineMs)).toEqual([50, 30, 10]);
});

test('an alternative for which no time is left is not sent', async () => {
  const { calls, dispatcher } = dispatcherOf(25);
  await expect(spendFirst(dispatcher)).rejects.toMatchObject({ code: 'ERR_STORE_DEADLINE' });
  expect(calls).toHaveLength(2);
});
