import { createLimiter, memoryStore, type Decision, type Store, type Time } from '@sluice/core';
import { callsOf, FakeTime } from '@sluice/core/testing';
import { getEventListeners, setMaxListeners } from 'node:events';
import { expect, test } from 'vitest';
import type { Decided } from '../../src/decision/decided.ts';
import { QueuedDecisions } from '../../src/limiter/queued-decisions.ts';
import { whenItsTurn } from '../../src/limiter/waiting.ts';
import { holding, holdingRemotely } from '../kinds/concurrency/slots/support/holding.ts';
import { accountLimits, limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';
import { later } from '../support/later-store.ts';
import { rejected, thrown } from '../support/thrown.ts';
import { sized } from '../../../../test/sized.ts';

const QUEUE = { burst: 1, count: 10, period: '1s', maxWait: '500ms' };
const entry = (id = '7') => [{ limit: 'Queue', id }];

/** A limiter with a queue, and the name and time of each wait that has ended. */
function queue(store?: (time: FakeTime) => Store) {
  const time = new FakeTime();
  const kept = store?.(time) ?? memoryStore({ time });
  const limiter = createLimiter({ limits: accountLimits({ Queue: QUEUE }), store: kept, time, log: false });
  const ended: string[] = [];
  const wait = (name: string, signal?: AbortSignal): Promise<unknown> =>
    limiter.spend(entry(), { wait: true, signal }).then(
      ({ allowed }) => ended.push(`${name} ${allowed ? time.nowMs : 'denied'}`),
      (reason: unknown) => ended.push(`${name} ${reasonOf(reason)}`),
    );
  const level = async () => (await limiter.check([{ limit: 'Queue', id: '7', cost: 0 }])).resetAfterMs;
  return { limiter, time, ended, wait, level };
}

function reasonOf(reason: unknown): string {
  return (reason as { code?: string } | undefined)?.code ?? String(reason);
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

for (const [name, store] of [
  ['the memory store', undefined],
  ['a store that answers later', later],
] as const) {
  test(`spend with wait resolves after the delay, not a microsecond earlier, in order: ${name}`, async () => {
    const { time, ended, wait } = queue(store);
    for (const each of ['a', 'b', 'c']) void wait(each);
    await settled();
    expect(ended).toEqual(['a 0']);
    await time.pass(99.999);
    expect(ended).toEqual(['a 0']);
    await time.pass(0.001);
    expect(ended).toEqual(['a 0', 'b 100']);
    await time.pass(500);
    expect(ended).toEqual(['a 0', 'b 100', 'c 200']);
    expect(time.pending).toBe(0);
  });

  test(`a wait that would be longer than maxWait is denied at once: ${name}`, async () => {
    const { ended, wait } = queue(store);
    for (let i = 0; i < 7; i++) void wait(String(i));
    await settled();
    expect(ended).toEqual(['0 0', '6 denied']);
  });

  test(`an aborted wait rejects with the reason, gives its tokens back and leaves no timer: ${name}`, async () => {
    const { time, ended, wait, level } = queue(store);
    const leaving = new AbortController();
    void wait('a');
    void wait('b', leaving.signal);
    await settled();
    leaving.abort('enough');
    await settled();
    expect(ended).toEqual(['a 0', 'b enough']);
    expect(await level()).toBe(100);
    expect(time.pending).toBe(0);
  });

  test(`with a signal that is already aborted, no tokens are taken: ${name}`, async () => {
    const { ended, wait, level } = queue(store);
    await wait('a', AbortSignal.abort('too late'));
    expect(ended).toEqual(['a too late']);
    expect(await level()).toBe(0);
  });

  test(`waits that leave the middle of the queue give their tokens back when all behind them have left: ${name}`, async () => {
    const { time, ended, wait, level } = queue(store);
    const leaving = ['a', 'b', 'c', 'd'].map((each) => [each, new AbortController()] as const);
    for (const [each, { signal }] of leaving) void wait(each, signal);
    await settled();
    const abort = async (index: number) => {
      leaving.at(index)?.[1].abort('left');
      await settled();
      return level();
    };
    expect([await abort(1), await abort(2)]).toEqual([400, 400]);
    expect(await abort(3)).toBe(100);
    expect(ended).toEqual(['a 0', 'b left', 'c left', 'd left']);
    void wait('e');
    await settled();
    await time.pass(100);
    expect(ended.at(-1)).toBe('e 100');
  });

  test(`close rejects all waits at once and gives all their tokens back: ${name}`, async () => {
    const { limiter, time, ended, wait } = queue(store);
    for (const each of ['a', 'b', 'c']) void wait(each);
    await settled();
    const other = createLimiter({ limits: accountLimits({ Other: QUEUE }), store: limiter.store, time, log: false });
    await limiter.close();
    await settled();
    expect(ended).toEqual(['a 0', 'b ERR_CLOSED', 'c ERR_CLOSED']);
    const { levelsTicks } = await callsOf(limiter.store).check([
      { limit: 'Queue', id: '7', incrementTicks: 0, fitTicks: 0, capTicks: 0, mode: 'check-only' },
    ]);
    expect(levelsTicks).toEqual([100 * 16_000]);
    expect(time.pending).toBe(0);
    await other.close();
  });
}

// Node looks for a new listener among all those of its signal: ten times as many would take a hundred times as long.
test('thousands of waits with one signal leave at once, without a listener, a timer or a token', async () => {
  const { limiter, time } = limiterOnFakeTime({ Queue: { ...QUEUE, maxWait: '1h' } });
  const leaving = new AbortController();
  setMaxListeners(0, leaving.signal);
  const all = Array.from({ length: sized(1000, 4000) }, () =>
    limiter.spend(entry(), { wait: true, signal: leaving.signal }),
  );
  const ends = Promise.allSettled(all);
  leaving.abort('left');
  expect(new Set((await ends).map(({ status }) => status))).toEqual(new Set(['fulfilled', 'rejected']));
  expect(getEventListeners(leaving.signal, 'abort')).toHaveLength(0);
  expect(time.pending).toBe(0);
  expect(limiter.checkSync([{ limit: 'Queue', id: '7', cost: 0 }]).resetAfterMs).toBe(100);
});

test('waits in different queues do not depend on each other, in whatever order they leave', async () => {
  const { limiter, time } = limiterOnFakeTime({ Queue: QUEUE, Other: QUEUE });
  const uses = [['Queue'], ['Other'], ['Queue', 'Other'], ['Other'], ['Queue']] as const;
  for (const limit of ['Queue', 'Other'] as const) limiter.spendSync([{ limit, id: '7' }]);
  const leaving = uses.map((limits) => {
    const controller = new AbortController();
    const entries = limits.map((limit) => ({ limit, id: '7' }));
    limiter.spend(entries, { wait: true, signal: controller.signal }).catch(() => undefined);
    return controller;
  });
  const levels = () =>
    (['Queue', 'Other'] as const).map((limit) => limiter.checkSync([{ limit, id: '7', cost: 0 }]).resetAfterMs);
  const seen = [2, 4, 0, 3, 1].map((index) => (leaving.at(index)?.abort(), levels()));
  expect(seen).toEqual([
    [400, 400],
    [300, 400],
    [300, 400],
    [100, 200],
    [100, 100],
  ]);
  expect(time.pending).toBe(0);
});

test('a signal that is aborted after close, when the store had not answered yet, is ignored', async () => {
  const { limiter, ended, wait } = queue(later);
  const leaving = new AbortController();
  void wait('a', leaving.signal);
  void wait('b', leaving.signal);
  await limiter.close();
  await settled();
  expect(ended).toEqual(['a 0', 'b ERR_CLOSED']);
  expect(getEventListeners(leaving.signal, 'abort')).toHaveLength(0);
  leaving.abort('late');
  await settled();
});

test('when a wait leaves the queue, no new request gets a turn before those behind it', async () => {
  const { time, ended, wait } = queue();
  const leaving = new AbortController();
  void wait('a');
  void wait('b', leaving.signal);
  void wait('c');
  leaving.abort('left');
  void wait('d');
  await settled();
  await time.pass(1000);
  expect(ended).toEqual(['a 0', 'b left', 'c 200', 'd 300']);
});

test('a wait that left, and whose turn has passed, gives nothing back', async () => {
  const { time, ended, wait, level } = queue();
  const [first, second] = [new AbortController(), new AbortController()];
  void wait('a');
  for (const [i, { signal }] of [first, second].entries()) void wait(`left ${i}`, signal);
  first.abort('left');
  await settled();
  await time.pass(150);
  second.abort('left');
  await settled();
  expect(ended).toEqual(['a 0', 'left 0 left', 'left 1 left']);
  expect(await level()).toBe(50);
});

test('a signal that is aborted after the wait changes nothing', async () => {
  const { time, ended, wait, level } = queue();
  const leaving = new AbortController();
  void wait('a');
  void wait('b', leaving.signal);
  await settled();
  await time.pass(100);
  leaving.abort('late');
  await settled();
  expect(ended).toEqual(['a 0', 'b 100']);
  expect(await level()).toBe(100);
});

test('a signal that is aborted when the turn has come, before the wait has ended, changes nothing', async () => {
  const { limiter, time } = limiterOnFakeTime({ Queue: QUEUE });
  const [first, second] = [new AbortController(), new AbortController()];
  for (const id of ['7', '8']) limiter.spendSync(entry(id));
  // Called when the first wait ends.
  first.signal.removeEventListener = () => second.abort('left');
  const waits = [
    limiter.spend(entry('7'), { wait: true, signal: first.signal }),
    limiter.spend(entry('8'), { wait: true, signal: second.signal }),
  ];
  await time.pass(100);
  expect((await Promise.all(waits)).map(({ delayMs }) => delayMs)).toEqual([100, 100]);
  expect(second.signal.aborted).toBe(true);
});

test('a signal that is aborted while the store is asked gives the tokens back, whatever the delay is', async () => {
  const { ended, wait, level } = queue(later);
  const abortMeanwhile = async (name: string) => {
    const leaving = new AbortController();
    const waited = wait(name, leaving.signal);
    leaving.abort('left');
    await waited;
    await settled();
    return level();
  };
  expect(await abortMeanwhile('a')).toBe(0);
  await wait('b');
  expect(await abortMeanwhile('c')).toBe(100);
  expect(ended).toEqual(['a left', 'b 0', 'c left']);
});

test('a wait that leaves gives its tokens back, although others wait in queues of other ids and limits', async () => {
  const { limiter, time } = limiterOnFakeTime({ Queue: QUEUE, Other: QUEUE });
  const leaving = new AbortController();
  const spent = ['7', '8'].map((id) => limiter.spendSync([...entry(id), { limit: 'Other', id }]));
  expect(spent.map(({ delayMs }) => delayMs)).toEqual([0, 0]);
  const left = limiter.spend(entry('7'), { wait: true, signal: leaving.signal });
  void limiter.spend([{ limit: 'Other', id: '7' }], { wait: true });
  void limiter.spend(entry('8'), { wait: true });
  leaving.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  expect(limiter.checkSync([{ limit: 'Queue', id: '7', cost: 0 }]).resetAfterMs).toBe(100);
  await time.pass(1000);
});

test('a shorter wait of another limit ends first', async () => {
  const { limiter, time } = limiterOnFakeTime({ Queue: QUEUE, Slow: { ...QUEUE, count: 3 } });
  const ended: string[] = [];
  for (const limit of ['Slow', 'Queue'] as const) {
    for (let i = 0; i < 2; i++) void limiter.spend([{ limit, id: '7' }], { wait: true }).then(() => ended.push(limit));
  }
  await time.pass(1000);
  expect(ended).toEqual(['Slow', 'Queue', 'Queue', 'Slow']);
});

test('alternatives are waited for, too', async () => {
  const { limiter, time } = limiterOnFakeTime({ Queue: QUEUE, Own: { count: 1, period: '1h' } });
  const firstOf = (['Own', 'Queue'] as const).map((limit) => [{ limit, id: '7' }]);
  const limits: (string | null)[] = [];
  for (let i = 0; i < 3; i++)
    void limiter.spend({ firstOf }, { wait: true }).then(({ limit }: Decision) => limits.push(limit));
  await time.pass(100);
  expect(limits).toEqual(['Own', 'Queue', 'Queue']);
});

test('wrong arguments of spend reject the call', async () => {
  const { limiter } = limiterOnFakeTime({ Queue: QUEUE });
  const wait = (entries: unknown, options?: unknown) => () =>
    limiter.spend(entries as never, { wait: true, ...(options as object) });
  expect((await rejected(wait([{ limit: 'Other', id: '7' }]))).code).toBe('ERR_UNKNOWN_LIMIT');
  expect((await rejected(wait(entry(), { timeout: 5 }))).code).toBe('ERR_UNKNOWN_OPTION');
  for (const signal of [null, 5, {}]) {
    expect(await rejected(wait(entry(), { signal }))).toMatchObject({
      code: 'ERR_OPTION',
      message: expect.stringContaining('`spend.signal` must be an AbortSignal, but was'),
    });
  }
  void limiter.close();
  expect((await rejected(wait(entry()))).code).toBe('ERR_CLOSED');
});

test('a timer that is a little early does not end a wait', async () => {
  const time = new FakeTime();
  const store = memoryStore({ time });
  const early: Time = {
    nowMicros: () => time.nowMicros(),
    wallNow: () => time.wallNow(),
    endOfTurn: (run) => time.endOfTurn(run),
    alarm: (delayMs, run) => time.alarm(delayMs - 0.6, run),
  };
  const limiter = createLimiter({ limits: accountLimits({ Queue: QUEUE }), store, time: early, log: false });
  void limiter.spend(entry(), { wait: true });
  let endedMs = -1;
  void limiter.spend(entry(), { wait: true }).then(() => (endedMs = time.nowMs));
  await time.pass(200);
  expect(endedMs).toBeGreaterThanOrEqual(100);
  expect(endedMs).toBeLessThan(101);
});

test('a wait ends as usual when giving its tokens back fails', async () => {
  const { limiter, time } = limiterOnFakeTime({ Queue: QUEUE });
  limiter.spendSync(entry());
  const decision = limiter.spendSync(entry());
  const queued = new QueuedDecisions({ time, refund: () => { throw new Error('closed'); }, noteLate: () => undefined }); // prettier-ignore
  const leaving = new AbortController();
  const waits = Promise.allSettled([
    whenItsTurn(() => decision as Decided, queued, { wait: true, signal: leaving.signal }),
    whenItsTurn(() => decision as Decided, queued, { wait: true }),
  ]);
  leaving.abort(new Error('left'));
  queued.close();
  expect(await waits).toMatchObject([{ reason: { message: 'left' } }, { reason: { code: 'ERR_CLOSED' } }]);
});

const QUEUE_AND_SLOTS = { Queue: QUEUE, Busy: { concurrency: 2 } };
const queuedSlot = [...entry(), { limit: 'Busy', id: '7' }];

/** A limiter with a queue and slots, the tokens that are missing in the queue in milliseconds, and the free slots. */
function queueAndSlots() {
  const { limiter, time } = holding(QUEUE_AND_SLOTS);
  const debtMs = () => limiter.checkSync([{ limit: 'Queue', id: '7', cost: 0 }]).resetAfterMs;
  const free = () => limiter.checkSync([{ limit: 'Busy', id: '7', cost: 0 }]).remaining;
  const spend = (signal?: AbortSignal) => limiter.spend(queuedSlot, { hold: true, wait: true, signal });
  return { limiter, time, debtMs, free, spend };
}

test('tokens and slots are one decision: slots are held during the wait, and a full slot takes no tokens', async () => {
  const { time, debtMs, free, spend } = queueAndSlots();
  const first = await spend();
  const second = spend();
  expect(free()).toBe(0);
  expect(await spend()).toMatchObject({ outcome: 'denied', limit: 'Busy' });
  expect(debtMs()).toBe(200);
  await time.pass(100);
  expect(await second).toMatchObject({ outcome: 'allowed', delayMs: 100 });
  expect(free()).toBe(0);
  for (const decision of [first, await second]) await decision.release();
  expect(free()).toBe(2);
});

test('a wait that is aborted releases its slots, and close ends waits with slots', async () => {
  const { limiter, debtMs, free, spend } = queueAndSlots();
  const leaving = new AbortController();
  const first = await spend();
  const second = spend(leaving.signal);
  leaving.abort(new Error('left'));
  await expect(second).rejects.toThrow('left');
  expect([free(), debtMs()]).toEqual([1, 100]);
  const third = spend();
  await first.release();
  void limiter.close();
  await expect(third).rejects.toMatchObject({ code: 'ERR_CLOSED' });
});

test('a signal works without a wait: it gives back what was taken, and releases slots', async () => {
  const { limiter } = holdingRemotely(QUEUE_AND_SLOTS);
  const leaving = new AbortController();
  const spent = limiter.spend(queuedSlot, { hold: true, signal: leaving.signal });
  leaving.abort(new Error('left'));
  await expect(spent).rejects.toThrow('left');
  await expect(limiter.spend(queuedSlot, { hold: true, signal: leaving.signal })).rejects.toThrow('left');
  await settled();
  const { results } = await limiter.check(queuedSlot);
  expect(results.map(({ remaining }) => remaining)).toEqual([1, 2]);
});

test('without `wait`, a decision with a delay is there at once', async () => {
  const { limiter } = limiterOnFakeTime({ Queue: QUEUE });
  limiter.spendSync(entry());
  expect(await limiter.spend(entry(), { wait: false })).toMatchObject({ allowed: true, delayMs: 100 });
});

test('a decision without slots can be released, which does nothing', async () => {
  const { limiter } = limiterOnFakeTime({ Queue: QUEUE });
  await using decision = limiter.spendSync(entry());
  expect(await decision.release()).toBeUndefined();
  expect(limiter.checkSync(entry()).results[0]).toMatchObject({ remaining: 0 });
});

test('wrong options of spend and spendSync are errors that tell what to do', async () => {
  const { limiter } = holding(QUEUE_AND_SLOTS);
  for (const option of ['hold', 'wait']) {
    const error = await rejected(() => limiter.spend(entry(), { [option]: 1 }));
    expect(error).toMatchObject({ code: 'ERR_OPTION', path: `spend.${option}` });
  }
  for (const option of ['wait', 'signal']) {
    const error = thrown(() => limiter.spendSync(entry(), { [option]: true }));
    expect(error).toMatchObject({
      code: 'ERR_UNKNOWN_OPTION',
      message: expect.stringContaining('use `await spend(…)`'),
    });
  }
  expect(thrown(() => limiter.spendSync(queuedSlot, {}))).toMatchObject({
    code: 'ERR_OPTION',
    message: expect.stringContaining('add the option `hold: true`'),
  });
  expect(limiter.checkSync(queuedSlot).results.map(({ remaining }) => remaining)).toEqual([1, 2]);
});
