import { createLimiter, everyone, memoryStore, type Store } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { storeGuard } from '@sluice/core/store';
import { createScheduler, SchedulerError } from '@sluice/core/scheduler';
import { FakeTime } from '@sluice/core/testing';
import { limitedFetch } from '@sluice/outgoing';
import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';

const [key, id] = [everyone(), 'everyone'];
const url = 'https://api.example.com';

interface Sent {
  readonly path: string;
  answer(status: number, fields?: Readonly<Record<string, string>>): void;
}

/** A door behind a quota, which no answer can restrict: calls have taken their tokens when learning holds them back. */
function scene({ count = 100 } = {}) {
  const time = new FakeTime();
  const limiter = createLimiter({ limits: { Month: quota({ key, count, per: 'month' }) }, time, log: false });
  const scheduler = createScheduler(limiter);
  const sent: Sent[] = [];
  const fetch = (input: unknown): Promise<Response> =>
    new Promise((resolve) => {
      const answer = (status: number, headers = {}): void => resolve(new Response(null, { status, headers }));
      sent.push({ path: new URL(String(input)).pathname, answer });
    });
  const log: string[] = [];
  const limited = limitedFetch({ scheduler, fetch });
  /** Sends a request, and logs how its wait has ended. */
  const send = (name: string, within: `${number}s`, signal?: AbortSignal): void => {
    const door = limitedFetch({ scheduler, fetch, within });
    void door(`${url}/${name}`, signal === undefined ? {} : { signal }).catch((error: unknown) => {
      const { reason, retryAfterMs } = error as SchedulerError;
      log.push(`${name} ${reason ?? (error as Error).message} after ${time.nowMs}, in ${retryAfterMs}`);
    });
  };
  /** Lets a first request be answered. */
  const taught = async (status: number, fields: Readonly<Record<string, string>>): Promise<void> => {
    const answer = limited(url);
    await time.pass(0);
    sent.pop()!.answer(status, fields);
    await answer;
    await time.pass(0);
  };
  const left = () => limiter.checkSync([{ limit: 'Month', id, cost: 0 }]).remaining;
  return { time, limiter, scheduler, sent, log, send, taught, left, paths: () => sent.map(({ path }) => path) };
}

describe('a request that is held back by what was learnt', () => {
  test('fails at once with the exact wait when a denial lasts longer than its time', async () => {
    const { log, send, taught, sent, scheduler, left, time } = scene();
    await taught(429, { 'retry-after': '10' });
    send('a', '5s');
    await time.pass(0);
    expect([log, sent, scheduler.running, left()]).toEqual([['a within after 0, in 10000'], [], 0, 99]);
  });

  test('begins at the end of its time, and not later', async () => {
    const { log, send, taught, paths, time } = scene();
    await taught(429, { 'retry-after': '10' });
    send('a', '10s');
    await time.pass(9999);
    expect(paths()).toEqual([]);
    await time.pass(1);
    expect([log, paths()]).toEqual([[], ['/a']]);
  });

  test('fails when its time is over while it waits for an answer, and lets others have its tokens', async () => {
    const { log, send, taught, paths, sent, left, scheduler, time } = scene();
    await taught(200, { ratelimit: '"a";r=1;t=5' });
    for (const name of ['a', 'b', 'c']) send(name, name === 'b' ? '5s' : '9s');
    await time.pass(8000);
    expect([log, paths(), left(), scheduler.running]).toEqual([['b within after 5000, in undefined'], ['/a'], 97, 2]);
    sent[0]!.answer(200);
    await time.pass(0);
    expect(paths()).toEqual(['/a', '/c']);
  });

  test('fails at once when a further denial lasts longer than its time, and the others stay', async () => {
    const { log, send, taught, paths, sent, time } = scene();
    await taught(429, { 'retry-after': '1' });
    for (const name of ['probe', 'a', 'b', 'c']) send(name, name === 'b' ? '20s' : '8s');
    await time.pass(2000);
    sent[0]!.answer(429, { 'retry-after': '7' });
    await time.pass(0);
    expect(log).toEqual(['a within after 2000, in 7000', 'c within after 2000, in 7000']);
    await time.pass(7000);
    expect([log.length, paths()]).toEqual([2, ['/probe', '/b']]);
  });

  test('has waited for its limits within the same time', async () => {
    const time = new FakeTime();
    const limits = { Month: quota({ key, count: 9, per: 'month' }), InFlight: concurrency({ key, concurrency: 1 }) };
    const limiter = createLimiter({ limits, time, log: false });
    const sentMs: number[] = [];
    const body = new TransformStream<Uint8Array>();
    const fetch = async (): Promise<Response> => {
      sentMs.push(time.nowMs);
      return new Response(body.readable, { status: 429, headers: { 'retry-after': '10' } });
    };
    const limited = limitedFetch({ scheduler: createScheduler(limiter), fetch, within: '8s' });
    // Kept, because an answer that nobody can read any more frees its slot.
    const first = await limited(url);
    const waiting = limited(url).catch((error: unknown) => error);
    await time.pass(3000);
    void body.writable.close();
    expect(await waiting).toMatchObject({ reason: 'within', retryAfterMs: 7000 });
    await time.pass(20_000);
    expect([first.status, sentMs, limiter.checkSync([{ limit: 'Month', id, cost: 0 }]).remaining]).toEqual([
      429,
      [0],
      8,
    ]);
  });

  test('leaves at once when it is aborted, with no listener left', async () => {
    const { log, send, taught, left, scheduler, time } = scene();
    await taught(429, { 'retry-after': '10' });
    const leaving = new AbortController();
    const { signal } = leaving;
    send('a', '20s', signal);
    await time.pass(5000);
    expect([getEventListeners(signal, 'abort').length, left()]).toEqual([1, 98]);
    leaving.abort(new Error('left'));
    await time.pass(0);
    expect([log, left(), scheduler.running]).toEqual([['a left after 5000, in undefined'], 99, 0]);
    expect([getEventListeners(signal, 'abort'), time.pending]).toEqual([[], 0]);
  });

  test.each([
    ['is aborted', (leaving: AbortController) => leaving.abort(new Error('left')), 'left'],
    ['has no time left', (_: AbortController, time: FakeTime) => time.pass(2990), 'within the time given'],
  ])('does not wait for its store when it %s', async (_, end, message) => {
    const time = new FakeTime();
    const memory = memoryStore({ time });
    const never = new Promise<never>(() => undefined);
    const store: Store = {
      guard: storeGuard,
      traits: { periods: true },
      run: async (operation) => (operation.kind === 'refund' ? never : memory.run(operation)),
      close: () => memory.close(),
    };
    const limits = { Month: quota({ key, count: 9, per: 'month' }) };
    const limiter = createLimiter({ limits, time, store, log: false });
    const answers = [new Response(null, { status: 429, headers: { 'retry-after': '1' } })];
    const fetch = async (): Promise<Response> => answers.shift() ?? never;
    const limited = limitedFetch({ scheduler: createScheduler(limiter), fetch, within: '3s' });
    await limited(url);
    const probe = limited(url);
    const leaving = new AbortController();
    const held = limited(url, { signal: leaving.signal });
    const error = held.catch((reason: unknown) => String(reason));
    await time.pass(10);
    await end(leaving, time);
    expect(await error).toContain(message);
    expect(await Promise.race([probe, 'on its way'])).toBe('on its way');
  });
});
