import { describe, expect, test } from 'vitest';
import { RUN_INTO, type AnswerSink, type RunInto } from '../../src/failure/run-into.ts';
import { guarded, transaction } from './support/guarded.ts';
import { hangs, reading } from './support/scripted-store.ts';

const open = transaction({ limit: 'Open', onFailure: 'open' });
const batch = [open];

/** A guard around a store that gives the outcomes of operations to sinks, which the test settles. */
function direct() {
  const all = guarded(hangs, { deadlineMs: 70 }, { keepsDeadline: true });
  const sinks: AnswerSink[] = [];
  const asked: unknown[] = [];
  const into: RunInto = (store, given, deadlineMs, sink) => {
    asked.push([store === all.store, given, deadlineMs]);
    sinks.push(sink);
  };
  const run = Object.assign(() => new Promise<never>(() => {}), { [RUN_INTO]: into });
  Object.assign(all.store, { run });
  return { ...all, sinks, asked };
}

describe('a store that gives the outcomes of operations to sinks', () => {
  test('is asked once, with the deadline, and decides', async () => {
    const { guard, sinks, asked } = direct();
    const spent = guard.spend(batch);
    sinks[0]?.answered(reading(batch));
    expect(await spent).toMatchObject({ ...reading(batch), failure: undefined });
    expect(asked).toEqual([[true, { kind: 'spend', alternatives: [batch] }, 70]]);
  });

  test('is answered for by the policy when it fails, or when its answer is malformed', async () => {
    const { guard, sinks } = direct();
    const spent = [guard.spend(batch), guard.spend(batch)];
    sinks[0]?.failed(new Error('down'));
    sinks[1]?.answered({ passed: 0, nowTicks: 0.5, levelsTicks: [] });
    const [failed, malformed] = await Promise.all(spent);
    expect(failed?.failure).toMatchObject({ policy: 'open', cause: { message: 'down' } });
    expect(malformed?.failure?.cause).toMatchObject({ code: 'ERR_STORE_ANSWER' });
  });

  test('is ignored after close, whatever it answers', async () => {
    const { guard, sinks } = direct();
    const spent = [guard.spend(batch), guard.spend(batch)];
    guard.close();
    sinks[0]?.answered(reading(batch));
    sinks[1]?.failed(new Error('down'));
    for (const { failure } of await Promise.all(spent)) {
      expect(failure?.cause).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
    }
  });

  test('is called as any other when its `run` is wrapped', async () => {
    const { guard, store, sinks } = direct();
    Object.assign(store, { run: () => Promise.resolve(reading(batch)) });
    expect(await guard.spend(batch)).toMatchObject({ ...reading(batch), failure: undefined });
    expect(sinks).toEqual([]);
  });
});
