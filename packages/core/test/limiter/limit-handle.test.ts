import { accountId, createLimiter, everyone, memoryStore, type LimiterEvent } from '@sluice/core';
import type { Mode } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { expect, test, vi } from 'vitest';
import { later } from '../support/later-store.ts';
import { accountLimits, limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';
import { deferred, settled } from '../support/promises.ts';
import { rejected, thrown } from '../support/thrown.ts';
import { limitOf } from '../support/limit-of.ts';

const ORDERS = { burst: 3, count: 1, period: '1s', maxDebt: 5 };
const SLOW = { Orders: ORDERS };

/** A limiter with one limit for everyone. */
function shared(limit: object) {
  const time = new FakeTime();
  const events: LimiterEvent[] = [];
  const onEvent = (event: LimiterEvent): void => void events.push(event);
  const limits = { Mails: limitOf({ key: everyone(), ...limit }) };
  const limiter = createLimiter({ limits, store: memoryStore({ time }), time, log: false, onEvent });
  return { time, events, limiter, mails: limiter.limit('Mails') };
}

test('a handle decides as the limiter does, with any options', () => {
  const one = limiterOnFakeTime(SLOW);
  const other = limiterOnFakeTime(SLOW);
  const orders = one.limiter.limit('Orders');
  const options = [
    {},
    { cost: 2 },
    { share: 0.5 },
    { mode: 'charge', cost: 4 },
    { mode: 'check-only' },
    { mode: 'spend-only' },
  ] as readonly { cost?: number; share?: number; mode?: Mode }[];
  for (let i = 0; i < 60; i++) {
    const chosen = options[(i * 7) % options.length];
    const entry = { limit: 'Orders', id: String(i % 3), ...chosen };
    expect(orders.spendSync(entry.id, chosen).toJSON()).toEqual(other.limiter.spendSync([entry]).toJSON());
    expect(orders.checkSync(entry.id, chosen).toJSON()).toEqual(other.limiter.checkSync([entry]).toJSON());
    for (const { time } of [one, other]) time.advance(130);
  }
});

test('its calls return promises with a store that answers at once, too', async () => {
  const orders = limiterOnFakeTime(SLOW).limiter.limit('Orders');
  const calls = [orders.spend('7'), orders.check('7'), orders.charge('7'), orders.refund('7')];
  for (const call of calls) expect(call).toBeInstanceOf(Promise);
  expect(await Promise.all(calls)).toMatchObject([
    { remaining: 2 },
    { remaining: 2 },
    { remaining: 1 },
    { remaining: 2 },
  ]);
});

test('its promises reject with what is wrong, and its values throw it', async () => {
  const { limiter } = limiterOnFakeTime(SLOW);
  const orders = limiter.limit('Orders');
  expect(await rejected(() => orders.spend())).toMatchObject({ code: 'ERR_ID' });
  expect(await rejected(() => orders.check('7', { cost: -1 }))).toMatchObject({ code: 'ERR_COST' });
  expect(await rejected(() => orders.spend('7', { id: '8' } as never))).toMatchObject({ code: 'ERR_UNKNOWN_OPTION' });
  expect(await rejected(() => orders.spend('7', { cost: 4 }))).toMatchObject({ code: 'ERR_COST_OVER_BURST' });
  expect(await rejected(() => orders.usage('7'))).toMatchObject({ code: 'ERR_OPTION' });
  expect(thrown(() => orders.spendSync('7', { mode: 'never' as never }))).toMatchObject({ code: 'ERR_OPTION' });
  expect(thrown(() => limiter.limit('Order'))).toMatchObject({ code: 'ERR_UNKNOWN_LIMIT' });
});

test('on a store that answers later, spendSync and checkSync say so, and take nothing', async () => {
  const time = new FakeTime();
  const limiter = createLimiter({ limits: accountLimits(SLOW), store: later(time), time, log: false });
  const orders = limiter.limit('Orders');
  for (const call of ['spend', 'check'] as const) {
    const error = thrown(() => orders[`${call}Sync`]('7'));
    expect(error).toMatchObject({ code: 'ERR_OPTION', message: expect.stringContaining(`await ${call}(…)`) });
  }
  expect(await orders.check('7')).toMatchObject({ remaining: 3 });
  expect(await orders.spend('7')).toMatchObject({ remaining: 2 });
});

test('when overrides come later, spendSync says so, and takes nothing', async () => {
  const { limiter } = limiterOnFakeTime(SLOW, {
    overrides: async (_limit, id) => {
      if (id === 'x') throw new Error('no database');
      return undefined;
    },
  });
  const orders = limiter.limit('Orders');
  expect(thrown(() => orders.spendSync('7'))).toMatchObject({ message: expect.stringContaining('`overrides`') });
  expect(thrown(() => orders.spendSync('x'))).toMatchObject({ code: 'ERR_OPTION' });
  expect(await orders.check('7')).toMatchObject({ remaining: 3 });
});

test('what goes wrong after spendSync has thrown is no unhandled rejection', async () => {
  const anchor = vi.fn<() => string>(() => {
    throw new Error('no such customer');
  });
  const { limiter } = limiterOnFakeTime(
    { Reports: { count: 10, per: 'month', anchor } },
    { overrides: async () => undefined },
  );
  expect(thrown(() => limiter.limit('Reports').spendSync('7'))).toMatchObject({ code: 'ERR_OPTION' });
  await vi.waitFor(() => expect(anchor).toHaveBeenCalled());
});

test('it shows what is used of a quota', async () => {
  const { limiter } = limiterOnFakeTime({ Reports: { count: 10, per: 'day' } });
  const reports = limiter.limit('Reports');
  await reports.spend('7', { cost: 4 });
  expect(await reports.usage('7')).toMatchObject({ limit: 'Reports', id: '7', used: 4, remaining: 6 });
});

test('a limit for everyone needs no id', async () => {
  const { mails } = shared({ burst: 2, count: 1, period: '1s' });
  expect(mails.spendSync()).toMatchObject({ allowed: true, id: 'everyone', remaining: 1 });
  expect(await mails.charge()).toMatchObject({ id: 'everyone', remaining: 0 });
  expect(thrown(() => mails.spendSync('7'))).toMatchObject({ code: 'ERR_ID' });
});

test('it follows replace, and says when its limit is gone or the limiter closed', () => {
  const { limiter } = limiterOnFakeTime(SLOW);
  const orders = limiter.limit('Orders');
  limiter.replace({ limits: accountLimits({ Orders: { ...ORDERS, burst: 9 } }) });
  expect(orders.spendSync('7')).toMatchObject({ remaining: 8 });
  limiter.replace({ limits: accountLimits({ Mails: ORDERS }) });
  expect(thrown(() => orders.spendSync('7'))).toMatchObject({ code: 'ERR_UNKNOWN_LIMIT' });
  void limiter.close();
  expect(thrown(() => orders.spendSync('7'))).toMatchObject({ code: 'ERR_CLOSED' });
});

test('its decisions are reported as those of the limiter', async () => {
  const reported: (string | null)[] = [];
  const onDecision = ({ id }: { id: string | null }): void => void reported.push(id);
  const { limiter } = limiterOnFakeTime(SLOW, { onDecision });
  const orders = limiter.limit('Orders');
  await orders.spend('7');
  await orders.check('8');
  expect(reported).toEqual(['7']);
});

test('run gives what the work returns, and does not begin it when it is denied', async () => {
  const { mails } = shared({ burst: 1, count: 1, period: '1s' });
  expect(await mails.run(({ remaining }) => `sent with ${remaining} left`)).toMatchObject({
    allowed: true,
    decision: { limit: 'Mails', remaining: 0 },
    value: 'sent with 0 left',
  });
  const never = () => expect.unreachable();
  expect(await mails.run(never)).toMatchObject({ allowed: false, decision: { retryAfterMs: 1000 } });
});

test('run waits for the turn of a limit with maxWait, until its signal is aborted', async () => {
  const { mails, time } = shared({ burst: 1, count: 10, period: '1s', maxWait: '500ms' });
  const begun: number[] = [];
  const send = () => void begun.push(time.nowMs);
  const all = [mails.run(send), mails.run(send)];
  const given = new AbortController();
  const left = mails.run(send, { signal: given.signal });
  given.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  await time.pass(100);
  await Promise.all(all);
  expect(begun).toEqual([0, 100]);
});

test('run settles what the work has cost, up or down', async () => {
  const { mails } = shared({ burst: 10, count: 1, period: '1s' });
  const level = () => mails.checkSync(undefined, { cost: 0 }).remaining;
  const settle = (tokens?: number) => tokens;
  await mails.run(() => 2, { cost: 5, settle });
  expect(level()).toBe(8);
  await mails.run(() => 4, { cost: 1, settle });
  expect(level()).toBe(4);
});

test('when settle fails, the whole cost stays taken, the value is returned, and there is an event', async () => {
  const { mails, events } = shared({ burst: 10, count: 1, period: '1s' });
  expect(await mails.run(() => 'sent', { cost: 5, settle: () => NaN })).toMatchObject({ value: 'sent' });
  expect(mails.checkSync(undefined, { cost: 0 })).toMatchObject({ remaining: 5 });
  expect(events).toMatchObject([{ type: 'callback-failed', callback: 'settle' }]);
});

test('a cost that can’t be settled, because the limiter was closed while the work ran, is an event', async () => {
  const { limiter, mails, events } = shared({ burst: 10, count: 1, period: '1s' });
  const sent = await mails.run(() => void limiter.close(), { settle: () => 3 });
  expect(sent.allowed).toBe(true);
  expect(events).toMatchObject([{ type: 'callback-failed', callback: 'settle' }]);
});

test('nothing is settled for an unlimited id', async () => {
  const { limiter } = limiterOnFakeTime(SLOW, { overrides: { Orders: { 7: 'unlimited' } } });
  const ran = await limiter.limit('Orders').run('7', () => 'done', { settle: () => 5 });
  expect(ran).toMatchObject({ allowed: true, value: 'done' });
});

test('when the work fails, run rejects with its error, and the tokens stay taken where `settle` returns nothing', async () => {
  const { mails } = shared({ burst: 2, count: 1, period: '1s' });
  const fail = async () => Promise.reject(new Error('bounced'));
  const ends: unknown[] = [];
  const settle = (...end: unknown[]) => void ends.push(end);
  await expect(mails.run(fail, { settle })).rejects.toThrow('bounced');
  expect(ends).toEqual([[undefined, { error: new Error('bounced'), aborted: false }]]);
  expect(mails.checkSync()).toMatchObject({ remaining: 2 - 1 });
});

test('run holds the slots of a concurrency limit while the work runs, also when it fails', async () => {
  const { mails } = shared({ concurrency: 1 });
  const work = deferred<string>();
  const first = mails.run(() => work.promise);
  await settled();
  expect(await mails.run(() => 'second')).toMatchObject({ allowed: false });
  work.resolve('first');
  expect(await first).toMatchObject({ allowed: true, value: 'first' });
  await expect(mails.run(async () => Promise.reject(new Error('bounced')))).rejects.toThrow('bounced');
  expect(await mails.run(() => 'third')).toMatchObject({ allowed: true });
});

test('run begins no work for a signal that is aborted, and leaves no slot held', async () => {
  const { mails } = shared({ concurrency: 1 });
  const never = () => expect.unreachable();
  await expect(mails.run(never, { signal: AbortSignal.abort(new Error('left')) })).rejects.toThrow('left');
  const given = new AbortController();
  const left = mails.run(never, { signal: given.signal });
  given.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  expect(await mails.run(() => 'next')).toMatchObject({ allowed: true });
});

test('run gives tokens back when the signal is aborted before the work begins', async () => {
  const { mails } = shared({ burst: 2, count: 1, period: '1s' });
  const given = new AbortController();
  const left = mails.run(() => expect.unreachable(), { signal: given.signal });
  given.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  expect(mails.checkSync()).toMatchObject({ remaining: 2 });
});

test('spend of a handle takes the options of the limiter, too', async () => {
  const { mails } = shared({ concurrency: 2 });
  const held = await mails.spend(undefined, { cost: 2, hold: true });
  expect(mails.spendSync(undefined, { hold: true })).toMatchObject({ allowed: false });
  await held.release();
  expect(mails.spendSync(undefined, { hold: true })).toMatchObject({ allowed: true });
  const aborted = { hold: true, signal: AbortSignal.abort(new Error('left')) };
  await expect(mails.spend(undefined, aborted)).rejects.toThrow('left');
  expect(thrown(() => mails.spendSync(undefined, { wait: true } as never)).code).toBe('ERR_UNKNOWN_OPTION');
  expect(thrown(() => mails.checkSync(undefined, { hold: true } as never)).code).toBe('ERR_UNKNOWN_OPTION');
});

test('run says what is wrong with its arguments', async () => {
  const { mails } = shared({ concurrency: 1 });
  expect(await rejected(() => mails.run('everyone', 'send' as never))).toMatchObject({ code: 'ERR_OPTION' });
  expect(await rejected(() => mails.run(() => 1, { settle: () => 1 }))).toMatchObject({
    message: expect.stringContaining('concurrency limit'),
  });
  expect(await rejected(() => mails.run(() => 1, { mode: 'charge' } as never))).toMatchObject({
    code: 'ERR_UNKNOWN_OPTION',
  });
  expect(thrown(() => mails.spendSync())).toMatchObject({ message: expect.stringContaining('hold') });
});

test('the types say what a run gives', async () => {
  const limiter = createLimiter({ limits: { Orders: { key: accountId(), ...ORDERS } } });
  const ran = await limiter.limit('Orders').run('7', () => 'text');
  const length: number = ran.allowed ? ran.value.length : 0;
  expect(length).toBe(4);
  // @ts-expect-error -- a denied run has no value
  expect(ran.value).toBe('text');
});
