import { createLimiter, everyone } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { createScheduler } from '@sluice/core/scheduler';
import { FakeTime } from '@sluice/core/testing';
import { limitedDispatch } from '@sluice/outgoing';
import { describe, expect, test, vi } from 'vitest';

type Dispatch = (call: object, handler: object) => boolean;

test('a request of undici fails at the end of its time, once', async () => {
  const time = new FakeTime();
  const limits = { InFlight: concurrency({ key: everyone(), concurrency: 1 }) };
  const scheduler = createScheduler(createLimiter({ limits, time, log: false }));
  const dispatch = limitedDispatch(scheduler, { within: '20ms' })(() => true) as unknown as Dispatch;
  const errors: [atMs: number, message: string][] = [];
  const onResponseError = (_: unknown, error: Error): void => void errors.push([time.nowMs, error.message]);
  const call = { origin: 'https://api.example.com', path: '/', method: 'GET' };
  dispatch(call, {});
  dispatch(call, { onResponseError });
  await time.pass(0);
  await time.pass(1000);
  expect(errors).toEqual([[20, expect.stringContaining('within the time given')]]);
});

test.each([
  ['throws', () => undefined],
  ['tells a handler of an error, which throws', (handler: { onResponseError(...args: unknown[]): void }) => handler],
])('a dispatch that %s frees its slot, and tells its handler once', async (_, told) => {
  const limits = { InFlight: concurrency({ key: everyone(), concurrency: 1 }) };
  const scheduler = createScheduler(createLimiter({ limits, log: false }));
  const dispatch = limitedDispatch(scheduler)(((_call: unknown, handler: never) => {
    told(handler)?.onResponseError(undefined, new Error('told'));
    throw new Error('thrown');
  }) as never) as unknown as Dispatch;
  const errors: string[] = [];
  const onResponseError = (_controller: unknown, error: Error): void => {
    errors.push(error.message);
    if (error.message === 'told') throw new Error('by the handler');
  };
  dispatch({ origin: 'https://api.example.com', path: '/', method: 'GET' }, { onResponseError });
  await scheduler.idle();
  expect([errors.length, scheduler.running]).toEqual([1, 0]);
});

describe('what a handler does with a request of undici', () => {
  /** A request that has its turn, and waits for a connection until `connect` is called. */
  function scene() {
    const limits = { InFlight: concurrency({ key: everyone(), concurrency: 1 }) };
    const scheduler = createScheduler(createLimiter({ limits, log: false }));
    const target = {
      aborted: false,
      paused: false,
      reason: null as Error | null,
      rawHeaders: ['a', 'b'],
      rawTrailers: undefined as unknown,
      abort: vi.fn<(reason: Error) => void>(),
      pause: vi.fn<() => void>(),
      resume: vi.fn<() => void>(),
    };
    let connect!: () => void;
    const dispatch = limitedDispatch(scheduler)(((
      _: unknown,
      handler: { onRequestStart(...args: unknown[]): void },
    ) => {
      connect = () => handler.onRequestStart(target, { retries: 1 });
      return true;
    }) as never) as unknown as Dispatch;
    let controller!: typeof target;
    let context!: object;
    const onRequestStart = (given: typeof target, started: object): void => {
      controller = given;
      context = started;
    };
    dispatch({ origin: 'https://api.example.com', path: '/', method: 'GET' }, { onRequestStart });
    return { target, controller, context, connect };
  }

  test('is done when it has a connection', () => {
    const { target, controller, connect } = scene();
    controller.pause();
    expect([controller.paused, target.pause.mock.calls.length]).toEqual([true, 0]);
    connect();
    expect(target.pause).toHaveBeenCalledOnce();
    const { target: other, controller: running, connect: begin } = scene();
    running.pause();
    running.resume();
    begin();
    expect(other.pause).not.toHaveBeenCalled();
  });

  test('aborts it as soon as it has a connection', () => {
    const { target, controller, connect } = scene();
    const reason = new Error('left');
    controller.abort(reason);
    expect([controller.aborted, controller.reason, target.abort.mock.calls]).toEqual([true, reason, []]);
    connect();
    expect(target.abort.mock.calls).toEqual([[reason]]);
    expect(target.pause).not.toHaveBeenCalled();
  });

  test('is given on to its connection, and comes back from there', () => {
    const { target, controller, context, connect } = scene();
    expect([controller.rawHeaders, controller.aborted, controller.reason]).toEqual([undefined, false, null]);
    connect();
    expect(context).toEqual({ retries: 1 });
    const reason = new Error('left');
    controller.pause();
    controller.resume();
    controller.abort(reason);
    controller.rawTrailers = ['c', 'd'];
    expect([target.pause, target.resume].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
    expect([target.abort.mock.calls, target.rawTrailers, controller.rawHeaders]).toEqual([
      [[reason]],
      ['c', 'd'],
      ['a', 'b'],
    ]);
    Object.assign(target, { aborted: true, paused: true, reason });
    expect([controller.aborted, controller.paused, controller.reason]).toEqual([true, true, reason]);
  });
});
