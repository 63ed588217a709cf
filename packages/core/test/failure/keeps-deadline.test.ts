import { describe, expect, test } from 'vitest';
import { SluiceError } from '../../src/checks/errors.ts';
import { deferred } from '../support/promises.ts';
import { guarded, transaction } from './support/guarded.ts';
import { answers, answersSoon, hangs, reading, rejects } from './support/scripted-store.ts';

const late = new SluiceError('ERR_STORE_DEADLINE', 'Redis did not answer within 50 ms.');
const open = transaction({ limit: 'Open', onFailure: 'open' });
const keepsDeadline = { keepsDeadline: true } as const;

describe('a store that keeps the deadline itself', () => {
  test('gets the deadline of each call, and the guard sets no timer', async () => {
    const { guard, store, time } = guarded(hangs, { deadlineMs: 70 }, keepsDeadline);
    const batch = [transaction()];
    void [guard.spend(batch), guard.check(batch), guard.charge(batch), guard.refund(store, batch)];
    const reset = guard.reset(batch);
    expect(store.calls.map(({ deadlineMs }) => deadlineMs)).toEqual([70, 70, 70, 70, 70]);
    expect([time.alarms, time.pending]).toEqual([0, 0]);
    guard.close();
    await expect(reset).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
  });

  test('decides', async () => {
    const { guard } = guarded(answersSoon, {}, keepsDeadline);
    const batch = [transaction()];
    expect(await guard.spend(batch)).toMatchObject({ ...reading(batch), failure: undefined });
  });

  test('is answered for by the policy when it rejects at the deadline', async () => {
    const { guard, events } = guarded(rejects(late), {}, keepsDeadline);
    expect((await guard.spend([open])).failure).toMatchObject({ policy: 'open', cause: late });
    expect(guard.status()).toMatchObject({ decidedByPolicy: 1, lastFailure: { cause: late } });
    expect(events).toMatchObject([]);
  });

  test('is left alone after three missed deadlines, and tried again later', async () => {
    const { guard, store, time } = guarded(rejects(late), {}, keepsDeadline);
    for (let i = 0; i < 3; i++) {
      await time.pass(50);
      await guard.spend([open]);
    }
    await guard.spend([open]);
    expect([store.calls.length, guard.status().state]).toEqual([3, 'failing']);
    store.behaviour = answersSoon;
    await time.pass(100);
    await guard.spend([open]);
    expect([store.calls.length, guard.status().state]).toEqual([4, 'up']);
  });

  test('fails when its answer is malformed', async () => {
    const { guard } = guarded(answers({}), {}, keepsDeadline);
    expect((await guard.spend([open])).failure?.cause).toMatchObject({ code: 'ERR_STORE_ANSWER' });
  });

  test('is ignored after close, whatever it answers', async () => {
    const answer = deferred<unknown>();
    const { guard } = guarded(() => answer.promise, {}, keepsDeadline);
    const batch = [open];
    const spent = guard.spend(batch);
    guard.close();
    answer.resolve(reading(batch));
    expect((await spent).failure?.cause).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
  });
});

test('a store without the trait gets a deadline from the guard', async () => {
  const { guard, time } = guarded(hangs);
  const spent = guard.spend([open]);
  expect(time.pending).toBe(1);
  await time.pass(50);
  expect((await spent).failure?.cause).toMatchObject({ code: 'ERR_STORE_DEADLINE' });
});
