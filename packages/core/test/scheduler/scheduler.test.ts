import { createLimiter } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { createScheduler, SchedulerError } from '@sluice/core/scheduler';
import { FakeTime } from '@sluice/core/testing';
import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { sized } from '../../../../test/sized.ts';
import { id, key, LIMITS, on, quiet, scene } from './scene.ts';

afterEach(() => void vi.restoreAllMocks());

describe('a call', () => {
  test('begins at once when its limits allow it, and without a timer', async () => {
    const { scheduler, time } = scene();
    let hasBegun = false;
    const call = scheduler.run(on('Api'), (decision) => {
      hasBegun = true;
      return decision.limit;
    });
    expect([hasBegun, scheduler.size, scheduler.running, time.pending]).toEqual([true, 0, 1, 0]);
    expect(await call).toBe('Api');
    expect(scheduler.running).toBe(0);
  });

  test('rejects with the error of its work', async () => {
    const { scheduler } = scene();
    await expect(scheduler.run(on('Api'), () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    const thrown = scheduler.run(on('Other'), () => {
      throw new Error('thrown');
    });
    await expect(thrown).rejects.toThrow('thrown');
    expect(scheduler.running).toBe(0);
  });

  test('begins at its turn, and takes its tokens not sooner than `ahead` before', async () => {
    const { run, time, starts, limiter } = scene({ ahead: '250ms' });
    for (let i = 0; i < 20; i++) void run(`${i}`, on('Api'));
    // The first has begun, two are reserved.
    expect(limiter.checkSync([{ limit: 'Api', id }]).retryAfterMs).toBe(300);
    await time.pass(2000);
    expect(starts.map(([, atMs]) => atMs)).toEqual(Array.from({ length: 20 }, (_, i) => i * 100));
  });

  test('with `ahead: 0ms` takes its tokens when it begins', async () => {
    const { run, time, starts, limiter } = scene({ ahead: '0ms' });
    for (let i = 0; i < 3; i++) void run(`${i}`, on('Api'));
    expect(limiter.checkSync([{ limit: 'Api', id }]).retryAfterMs).toBe(100);
    await time.pass(300);
    expect(starts.map(([, atMs]) => atMs)).toEqual([0, 100, 200]);
  });

  test('is done in the async context of its caller, whoever lets it begin', async () => {
    const { run, scheduler, time } = scene();
    const context = new AsyncLocalStorage<number>();
    const seen: unknown[] = [];
    for (let i = 1; i < 3; i++) context.run(i, () => void run('holds', on('Busy'), {}, 100));
    for (let i = 3; i < 6; i++)
      context.run(i, () => void scheduler.run(on('Busy'), () => void seen.push(context.getStore())));
    await time.pass(1000);
    expect(seen).toEqual([3, 4, 5]);
  });

  test('that waits for slots begins as soon as one is released', async () => {
    const { run, time, starts } = scene();
    for (let i = 0; i < 6; i++) void run(`${i}`, on('Busy'), {}, 40);
    await time.pass(200);
    expect(starts.map(([, atMs]) => atMs)).toEqual([0, 0, 40, 40, 80, 80]);
  });

  test('that waits for slots begins when one is released, also after calls of many other ids', async () => {
    const { run, time, starts } = scene();
    for (const limit of ['Api', 'Other'] as const) void run('holds', on('Busy', limit), {}, 2150);
    quiet(run('waits', on('Busy')));
    await time.pass(2000);
    for (let i = 0; i < 200; i++) void run('user', [{ limit: 'PerUser', id: `${i}` }]);
    await time.pass(150);
    expect(starts.at(-1)).toEqual(['waits', 2150]);
  });

  test('for a share of a limit waits for it', async () => {
    const { run, time, starts, limiter } = scene();
    limiter.replace({ limits: { ...LIMITS, Api: { key, burst: 10, count: 10, period: '1s' } } });
    for (let i = 0; i < 7; i++) void run('call', [{ limit: 'Api', id, share: 0.5 }]);
    await time.pass(300);
    expect(starts.map(([, atMs]) => atMs).slice(0, 6)).toEqual([0, 0, 0, 0, 0, 100]);
  });

  test('begins when its bucket was reset, within a second', async () => {
    const { run, time, starts, limiter } = scene();
    await limiter.restrict([{ limit: 'Api', id, forMs: 20_000 }]);
    void run('waits', on('Api'));
    await time.pass(100);
    await limiter.reset([{ limit: 'Api', id }]);
    await time.pass(1000);
    expect(starts).toHaveLength(1);
  });

  test.each([
    ['is aborted', (leaving: AbortController) => leaving.signal, new Error('gone')],
    ['was not begun by it in time', () => undefined, new SchedulerError('within')],
  ])('lets others begin by what its work gives back when it %s', async (_, signalOf, error) => {
    const { scheduler, limiter, run, starts } = scene({}, { limits: { Api: { key, count: 1, period: '1h' } } });
    const leaving = new AbortController();
    const left = scheduler.run(
      on('Api'),
      async (decision) => {
        await new Promise((resolve) => leaving.signal.addEventListener('abort', resolve));
        await limiter.refund(decision);
        throw error;
      },
      { signal: signalOf(leaving) },
    );
    void run('waits', on('Api'), { within: '2h' });
    leaving.abort();
    await expect(left).rejects.toBe(error);
    await scheduler.idle();
    expect(starts).toEqual([['waits', 0]]);
  });

  test('settles its true cost, and what comes back lets others begin', async () => {
    const { scheduler, time, starts, limiter } = scene();
    limiter.replace({ limits: { ...LIMITS, Api: { key, burst: 10, count: 10, period: '1s' } } });
    const cost = [{ limit: 'Api', id, cost: 10 }] as const;
    const work = (): number => starts.push(['call', time.nowMs]);
    const settle = () => ({ Api: 1 });
    const calls = Array.from({ length: 5 }, () => scheduler.run(cost, work, { settle }));
    await time.pass(0);
    await time.pass(1000);
    await Promise.all(calls);
    expect(starts.map(([, atMs]) => atMs)).toEqual([0, 100, 200, 300, 400]);
  });
});

describe('the order', () => {
  test('is by priority, and then first come, first served', async () => {
    const { run, time, names } = scene({ ahead: '0ms' });
    for (const [i, priority] of [0, 0, -10, 5, 0, 10, 5].entries())
      void run(`${i}:${priority}`, on('Api'), { priority });
    await time.pass(1000);
    expect(names()).toEqual(['0:0', '5:10', '3:5', '6:5', '1:0', '4:0', '2:-10']);
  });

  test('is the same whatever the order of the limits of a call', async () => {
    const { run, time, names } = scene();
    for (const name of ['a1', 'a2', 'a3']) void run(name, on('Api', 'Other'), { fair: 'a' });
    void run('b', on('Other', 'Api'), { fair: 'b' });
    await time.pass(500);
    expect(names()).toEqual(['a1', 'b', 'a2', 'a3']);
  });

  test('gives each fair key the same, by costs', async () => {
    const { scheduler, run, time, names, limiter } = scene({ ahead: '0ms' });
    limiter.replace({ limits: { ...LIMITS, Api: { key, burst: 2, count: 10, period: '1s' } } });
    void run('first', on('Api', 'Other'));
    for (let i = 0; i < 4; i++) void run('a', on('Api'), { fair: 'a' });
    for (let i = 0; i < 2; i++) void run('B', [{ limit: 'Api', id, cost: 2 }], { fair: 'b' });
    await time.pass(2000);
    expect(scheduler.size).toBe(0);
    expect(names().join(' ')).toBe('first a B a a B a');
  });

  test('lets a key that was idle for a second start anew', async () => {
    const { run, time, names } = scene({ ahead: '0ms' });
    for (let i = 0; i < 5; i++) void run('a', on('Api'), { fair: 'a' });
    await time.pass(1400);
    for (let i = 0; i < 3; i++) void run('b', on('Api'), { fair: 'b' });
    void run('A', on('Api'), { fair: 'a' });
    await time.pass(1000);
    expect(names().slice(5)).toEqual(['b', 'A', 'b', 'b']);
  });

  test('is the same among calls for other buckets, also of calls that came during a pause', async () => {
    const { run, time, names, scheduler } = scene();
    scheduler.pause();
    for (const priority of [0, -1, 2]) {
      void run(`Api ${priority}`, on('Api'), { priority });
      void run(`both ${priority}`, on('Api', 'Busy'), { priority });
    }
    scheduler.resume();
    await time.pass(1000);
    expect(names()).toEqual(['Api 2', 'both 2', 'Api 0', 'both 0', 'Api -1', 'both -1']);
  });

  test('puts an urgent call before one whose turn comes in more than half of `ahead`', async () => {
    const { run, time, names } = scene();
    for (let i = 0; i < 2; i++) void run(`${i}`, on('Api'));
    await time.pass(74);
    void run('urgent', on('Api'), { priority: 1 });
    await time.pass(500);
    expect(names()).toEqual(['0', 'urgent', '1']);
  });

  test('does not let a call wait for one that waits for another limit or id', async () => {
    const { run, time, names, limiter } = scene();
    await limiter.restrict([{ limit: 'Api', id, forMs: 5000 }]);
    void run('api', on('Api'));
    void run('both', on('Api', 'Other'));
    void run('other', on('Other'));
    void run('user', [{ limit: 'PerUser', id: '7' }]);
    expect(names()).toEqual(['other', 'user']);
    await time.pass(5200);
    expect(names().slice(2)).toEqual(['api', 'both']);
  });

  test('does not let small calls pass a large one at its bucket, whatever else they need', async () => {
    const { run, time, names, limiter } = scene({ ahead: '0ms' });
    limiter.replace({ limits: { ...LIMITS, Api: { key, burst: 5, count: 10, period: '1s' } } });
    void run('first', [{ limit: 'Api', id, cost: 5 }]);
    void run('large', [{ limit: 'Api', id, cost: 5 }]);
    for (let i = 0; i < 3; i++) void run(`small ${i}`, on('Api', 'Busy'));
    await time.pass(1500);
    expect(names()).toEqual(['first', 'large', 'small 0', 'small 1', 'small 2']);
  });

  test('lets a call that has waited for half of its time go before urgent ones', async () => {
    const { run, time, names } = scene({ ahead: '0ms' });
    void run('patient', on('Api'), { priority: 9 });
    void run('low', on('Api'), { priority: -10, within: '2s' });
    for (let i = 0; i < 30; i++) void run('urgent', on('Api'), { priority: 9 });
    await time.pass(1250);
    expect(names().indexOf('low')).toBe(10);
  });
});

describe('a call that is not begun', () => {
  test('within its time has an error, and takes nothing', async () => {
    const { run, time, limiter, scheduler } = scene();
    for (let i = 0; i < 2; i++) quiet(run('busy', on('Busy'), {}, 10_000));
    const call = run('late', on('Busy'), { within: '300ms' });
    quiet(call);
    await time.pass(299);
    expect(scheduler.size).toBe(1);
    await time.pass(1);
    await expect(call).rejects.toMatchObject({ code: 'ERR_NOT_BEGUN', reason: 'within', retryAfterMs: undefined });
    expect(limiter.checkSync(on('Busy') as never).remaining).toBe(0);
  });

  test('has an error at once when its turn is known to come too late, with the wait', async () => {
    const { run, limiter } = scene();
    await limiter.restrict([{ limit: 'Api', id, forMs: 2000 }]);
    const first = run('first', on('Api'), { within: '1s' });
    await expect(first).rejects.toMatchObject({ reason: 'within', retryAfterMs: 2000 });
    quiet(run('waits', on('Api')));
    // It is known from the one before it, without another question.
    await expect(run('next', on('Api'), { within: '1s' })).rejects.toMatchObject({
      reason: 'within',
      retryAfterMs: 2000,
    });
  });

  test('has an error with the wait that was learnt since, when its time is over', async () => {
    const { run, time, limiter } = scene({ ahead: '0ms' });
    for (let i = 0; i < 2; i++) quiet(run('before', on('Api'), { priority: 10 }));
    const call = run('late', on('Api'), { within: '300ms' });
    quiet(call);
    await time.pass(50);
    await limiter.restrict([{ limit: 'Api', id, forMs: 2000 }]);
    await time.pass(250);
    await expect(call).rejects.toMatchObject({ reason: 'within', retryAfterMs: 1750 });
  });

  test('is begun when its turn comes just in time', async () => {
    const { run, time, starts } = scene();
    void run('first', on('Api'));
    void run('second', on('Api'), { within: '100ms' });
    await time.pass(100);
    expect(starts.at(-1)).toEqual(['second', 100]);
  });

  test('is begun when its turn, at the end of its time, is reserved after the alarm for that was set', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const { run, time, starts } = scene();
    for (let i = 0; i < 2; i++) void run('holds', on('Busy'), {}, 90);
    void run('first', on('Api'));
    void run('second', on('Api', 'Busy'), { within: '100ms' });
    await time.pass(100);
    expect(starts.at(-1)).toEqual(['second', 100]);
  });

  test('has waited for 30 seconds by default', async () => {
    const { run, time, scheduler } = scene();
    for (let i = 0; i < 2; i++) quiet(run('holds', on('Busy'), {}, 60_000));
    const call = run('waits', on('Busy'));
    quiet(call);
    await time.pass(29_999);
    expect(scheduler.size).toBe(1);
    await time.pass(1);
    await expect(call).rejects.toMatchObject({ reason: 'within' });
  });

  test('does not learn of a wait that another lane is in', async () => {
    const { run, time, limiter, scheduler } = scene();
    const both = on('Api', 'Other');
    await limiter.restrict([{ limit: 'Other', id, forMs: 2000 }]);
    quiet(run('both', both));
    for (let i = 0; i < 50; i++) quiet(run('api', on('Api'), { priority: 1 }));
    await time.pass(100);
    await limiter.reset([{ limit: 'Other', id }]);
    await time.pass(920);
    const { size } = scheduler;
    quiet(run('both', both, { within: '500ms' }));
    expect(scheduler.size - size).toBe(1);
  });

  test('gives back what was reserved for it, when it leaves or the scheduler is closed', async () => {
    const { run, time, limiter, scheduler, starts } = scene({ ahead: '250ms' });
    const leaving = new AbortController();
    void run('first', on('Api', 'Busy'));
    quiet(run('leaves', on('Api', 'Busy'), { signal: leaving.signal }));
    await time.pass(1);
    const reserved = limiter.checkSync(on('Api')).retryAfterMs;
    leaving.abort(new Error('gone'));
    await time.pass(1);
    expect([reserved, limiter.checkSync(on('Api')).retryAfterMs]).toEqual([199, 98]);
    expect(limiter.checkSync(on('Busy')).remaining).toBe(2);

    quiet(run('closed', on('Api', 'Busy')));
    await time.pass(1);
    expect(limiter.checkSync(on('Api')).retryAfterMs).toBe(197);
    await scheduler.close();
    await time.pass(1);
    expect(limiter.checkSync(on('Api')).retryAfterMs).toBe(96);
    expect(limiter.checkSync(on('Busy')).remaining).toBe(2);
    await time.pass(1000);
    expect(starts).toHaveLength(1);
  });

  test('has an error when too many wait', async () => {
    const { run, scheduler } = scene({ maxWaiting: 2 });
    for (let i = 0; i < 3; i++) quiet(run('waits', on('Busy', 'Api')));
    expect(scheduler.size).toBe(2);
    await expect(run('more', on('Api'))).rejects.toMatchObject({ reason: 'maxWaiting' });
  });

  test('has an error when no wait helps', async () => {
    const { run } = scene({}, { overrides: { PerUser: { 7: 'blocked' }, Busy: { everyone: 'blocked' } } as never });
    const call = run('blocked', [{ limit: 'PerUser', id: '7' }]);
    await expect(call).rejects.toBeInstanceOf(SchedulerError);
    await expect(call).rejects.toMatchObject({ reason: 'never' });
    await expect(run('blocked', on('Busy'))).rejects.toMatchObject({ reason: 'never' });
  });

  test('takes nothing of a quota ahead', async () => {
    const { run, starts } = scene({ ahead: '1m' }, { limits: { Api: quota({ key, count: 100, per: 'hour' }) } });
    for (let i = 0; i < 100; i++) void run('call', on('Api'));
    await expect(run('more', on('Api'))).rejects.toMatchObject({ reason: 'within' });
    expect(starts).toHaveLength(100);
  });

  test('rejects with the reason of its signal, and leaves no listener on it', async () => {
    const { run, scheduler, time } = scene();
    const { signal, added, removed, abort } = watchedSignal();
    const begun = run('begun', on('Api'), { signal });
    const [reserved, waits] = [
      run('reserved', on('Busy', 'Api'), { signal, within: '1m' }),
      run('waits', on('Api'), { signal }),
    ];
    quiet(reserved, waits);
    await begun;
    abort(new Error('gone'));
    await expect(reserved).rejects.toThrow('gone');
    await expect(waits).rejects.toThrow('gone');
    await expect(run('never', on('Api'), { signal })).rejects.toThrow('gone');
    // Once for each time at which a call has it, however many do.
    expect([added(), removed(), scheduler.size]).toEqual([2, 2, 0]);
    await time.pass(1000);
    expect(time.pending).toBe(0);
  });

  test('rejects with the reason of its signal also after another call of that has begun', async () => {
    const { run, time, starts } = scene();
    const leaving = new AbortController();
    for (let i = 0; i < 2; i++) void run('begins', on('Api'));
    void run('begins', on('Api'), { signal: leaving.signal });
    const waits = run('waits', on('Api'), { signal: leaving.signal });
    quiet(waits);
    await time.pass(200);
    expect(starts).toHaveLength(3);
    leaving.abort(new Error('gone'));
    await expect(waits).rejects.toThrow('gone');
  });

  test('has an error after close, and so have those that wait', async () => {
    const { run, scheduler, time, starts } = scene({ maxWaiting: 20_000 });
    const work = run('work', on('Busy'), {}, 500);
    const waiting = Array.from({ length: sized(1000, 10_000) }, () =>
      run('waits', on('Api')).catch((error: unknown) => error),
    );
    const closed = scheduler.close();
    await expect(run('later', on('Api'))).rejects.toMatchObject({ reason: 'closed' });
    const errors = (await Promise.all(waiting.slice(1))) as SchedulerError[];
    expect(errors.every(({ reason }) => reason === 'closed')).toBe(true);
    await time.pass(500);
    await work;
    await closed;
    expect([scheduler.size, scheduler.running, starts.length, time.pending]).toEqual([0, 0, 2, 0]);
  });

  test('with `drain` is begun before the scheduler is closed, also while it is paused', async () => {
    const { run, scheduler, time, starts } = scene();
    scheduler.pause();
    for (let i = 0; i < 5; i++) void run('waits', on('Api'));
    expect(starts).toEqual([]);
    const closed = scheduler.close({ drain: true });
    await expect(run('later', on('Api'))).rejects.toMatchObject({ reason: 'closed' });
    await time.pass(500);
    await closed;
    expect(starts).toHaveLength(5);
  });
});

describe('nested calls', () => {
  test('for the same slots are an error that names both places', async () => {
    const { scheduler } = scene();
    const outer = scheduler.run(on('Busy', 'Api'), async () => {
      await Promise.resolve();
      return scheduler.run(on('Busy'), () => 'never');
    });
    await expect(outer).rejects.toMatchObject({ code: 'ERR_NESTED' });
    await expect(outer).rejects.toThrow(
      /`run` at .*scheduler\.test\.ts:\d+:\d+ must not .* `run` at .*scheduler\.test\.ts:\d+/,
    );
  });

  test('for slots of any work around them are an error', async () => {
    const limits = { ...LIMITS, More: concurrency({ key, concurrency: 2 }) };
    const { scheduler } = scene({}, { limits });
    const more = [{ limit: 'More' as 'Busy', id }];
    const inner = scheduler.run(on('Busy'), () =>
      scheduler.run(on('Api'), () => scheduler.run(more, () => scheduler.run(on('Busy'), () => 'never'))),
    );
    await expect(inner).rejects.toMatchObject({ code: 'ERR_NESTED' });
  });

  test('for a rate that the work around them has had wait', async () => {
    const { scheduler, time } = scene();
    const inner = scheduler.run(on('Busy', 'Api'), () => scheduler.run(on('Api'), () => 'inner'));
    await time.pass(200);
    expect(await inner).toBe('inner');
  });

  test('for other limits, and after the work, are begun', async () => {
    const { scheduler } = scene();
    const inner = scheduler.run(on('Busy'), () => scheduler.run(on('Api'), () => 'inner'));
    expect(await inner).toBe('inner');
    expect(await scheduler.run(on('Busy'), () => 'after')).toBe('after');
  });

  test('for the same slots are begun by what the work has left behind', async () => {
    const { scheduler } = scene();
    let leave!: () => void;
    const over = new Promise<void>((resolve) => (leave = resolve));
    let later: Promise<string> | undefined;
    await scheduler.run(on('Busy'), () => {
      later = over.then(() => scheduler.run(on('Busy'), () => 'late'));
    });
    leave();
    expect(await later).toBe('late');
  });
});

describe('a further try of a call', () => {
  test('has the place of the first one, before calls that came later', async () => {
    const { run, time, names } = scene();
    const place = {};
    const first = run('first try', on('Api'), { place });
    for (const name of ['b', 'c']) void run(name, on('Api'));
    await first;
    void run('second try', on('Api'), { place });
    void run('d', on('Api'), { place: {} });
    await time.pass(1000);
    expect(names()).toEqual(['first try', 'second try', 'b', 'c', 'd']);
  });

  test('comes after another one that was there before it', async () => {
    const { run, time, names, scheduler } = scene();
    const places = [{}, {}, {}];
    await Promise.all([
      run('0', on('Busy'), { place: places[0] }),
      run('1', on('Busy'), { place: places[1] }),
      run('2', on('Busy'), { place: places[2] }),
    ]);
    scheduler.pause();
    void run('other', on('Api'));
    for (const each of [2, 0, 1]) void run(`${each} again`, on('Api'), { place: places[each] });
    scheduler.resume();
    await time.pass(1000);
    expect(names().slice(3)).toEqual(['0 again', '1 again', '2 again', 'other']);
  });

  test('must begin within the time of the first one', async () => {
    const { run, time, scheduler } = scene();
    const place = {};
    await run('first try', on('Busy'), { place, within: '100ms' });
    await time.pass(60);
    for (const name of ['a', 'b']) void run(name, on('Api'));
    const again = run('second try', on('Api'), { place, within: '100ms' });
    await expect(again).rejects.toMatchObject({ reason: 'within', retryAfterMs: 100 });
    await time.pass(60);
    await expect(run('third try', on('Busy'), { place, within: '100ms' })).rejects.toBeInstanceOf(SchedulerError);
    expect(scheduler.size).toBe(1);
  });

  test('with a place that is not an object is an error', async () => {
    const { run } = scene();
    await expect(run('a', on('Api'), { place: 'first' as never })).rejects.toThrow('`run.place` must be an object');
  });
});

describe('a scheduler', () => {
  test('begins nothing while it is paused', async () => {
    const { run, scheduler, time, starts } = scene();
    scheduler.pause();
    void run('waits', on('Api'));
    quiet(run('late', on('Busy'), { within: '100ms' }));
    await time.pass(200);
    expect([starts.length, scheduler.size]).toEqual([0, 1]);
    scheduler.resume();
    expect([starts.length, scheduler.size]).toEqual([1, 0]);
  });

  test('resolves `close` and `idle` when the work has ended', async () => {
    const { run, scheduler, time } = scene();
    void run('work', on('Api'), {}, 100);
    const ended: string[] = [];
    void scheduler.idle().then(() => ended.push('idle'));
    void scheduler.idle().then(() => ended.push('idle again'));
    void scheduler.close().then(() => ended.push('close'));
    await time.pass(99);
    expect(ended).toEqual([]);
    await time.pass(1);
    expect(ended).toEqual(['idle', 'idle again', 'close']);
  });

  test('keeps a process alive by one timer while calls wait, and only then', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const { run, time } = scene();
    const leaving = new AbortController();
    for (let i = 0; i < 2; i++) quiet(run('holds', on('Busy'), {}, 60_000));
    quiet(run('waits', on('Busy'), { signal: leaving.signal }));
    const { pending } = time;
    for (const within of ['1s', '1ms']) {
      quiet(run('later or sooner', on('Busy'), { within, signal: leaving.signal }));
      expect(time.pending).toBe(pending);
    }
    leaving.abort(new Error('gone'));
    expect(time.pending).toBe(pending - 1);
    quiet(run('waits', on('Busy')));
    expect(time.pending).toBe(pending);
  });

  test('is idle when no call waits or runs', async () => {
    const { run, scheduler, time } = scene();
    await scheduler.idle();
    for (let i = 0; i < 3; i++) void run('call', on('Api'), {}, 100);
    let isIdle = false;
    void scheduler.idle().then(() => (isIdle = true));
    await time.pass(299);
    expect(isIdle).toBe(false);
    await time.pass(1);
    expect(isIdle).toBe(true);
  });

  test('wraps functions, with entries for the arguments of each call', async () => {
    const { scheduler, limiter } = scene();
    const greet = scheduler.wrap(
      (user: string) => [{ limit: 'PerUser', id: user }],
      (user: string, greeting: string) => `${greeting}, ${user}`,
    );
    expect(await Promise.all([greet('1', 'Hello'), greet('2', 'Bye')])).toEqual(['Hello, 1', 'Bye, 2']);
    expect(limiter.checkSync([{ limit: 'PerUser', id: '2' }]).allowed).toBe(false);
    expect(await scheduler.wrap(on('Api'), () => 'fixed')()).toBe('fixed');
  });

  test('begins no call whose turn is reserved when its limiter is closed', async () => {
    const { run, time, limiter, starts } = scene({ ahead: '250ms' });
    const calls = Array.from({ length: 3 }, () => run('call', on('Api')).catch(({ code }: { code: string }) => code));
    await limiter.close();
    await time.pass(1000);
    expect([starts.length, await Promise.all(calls)]).toEqual([1, [undefined, 'ERR_CLOSED', 'ERR_CLOSED']]);
  });

  test('rejects calls when its limiter is closed', async () => {
    const { run, time, limiter } = scene();
    const calls = Array.from({ length: 5 }, () => run('call', on('Api')).catch(({ code }: { code: string }) => code));
    await limiter.close();
    await time.pass(2000);
    expect(await Promise.all(calls)).toEqual([undefined, ...Array.from({ length: 4 }, () => 'ERR_CLOSED')]);
  });
});

describe('wrong input', () => {
  const calls: readonly [what: string, entries: unknown, options: object, message: string | RegExp][] = [
    ['no id', [{ limit: 'Api' }], {}, '`id` of limit "Api" must be a string'],
    ['a wrong id', [{ limit: 'Api', id: 'x' }], {}, "must be 'everyone'"],
    ['an unknown limit', [{ limit: 'Foreign', id }], {}, /Foreign.*Api/],
    ['a cost above the burst', [{ limit: 'Api', id, cost: 2 }], {}, 'at most the burst, 1'],
    ['a wrong cost', [{ limit: 'Api', id, cost: 0.5 }], {}, '`cost` of limit "Api" must be a whole number'],
    ['the same bucket twice', [...on('Api'), ...on('Api')], {}, 'twice'],
    ['no entries', undefined, {}, '`entries` must be an array'],
    ['an entry that is nothing', [undefined], {}, 'must be an object'],
    ['within: 0', on('Api'), { within: 0 }, '`run.within` must be'],
    ['a within of a year', on('Api'), { within: '366d' }, "'1ms' to '7d'"],
    ['a priority of 11', on('Api'), { priority: 11 }, 'a whole number from -10 to 10'],
    ['a fair key that is a number', on('Api'), { fair: 7 }, '`run.fair` must be a string'],
    ['a signal that is none', on('Api'), { signal: 1 }, '`run.signal` must be an AbortSignal'],
    ['a settle that is none', on('Api'), { settle: 1 }, '`run.settle` must be'],
    ['an unknown option', on('Api'), { prio: 1 }, 'no option `prio`'],
  ];
  test.each(calls)(
    'of a call is an error at once, also while others wait: %s',
    async (_, entries, options, message) => {
      const { scheduler, run } = scene();
      await expect(scheduler.run(entries as never, () => 'alone', options)).rejects.toThrow(message);
      for (let i = 0; i < 3; i++) quiet(run('first', on('Api')));
      const { size } = scheduler;
      await expect(scheduler.run(entries as never, () => 'behind others', options)).rejects.toThrow(message);
      expect([size, scheduler.size]).toEqual([2, 2]);
    },
  );

  test('of work is an error', async () => {
    await expect(scene().scheduler.run(on('Api'), 7 as never)).rejects.toThrow('must be a function');
  });

  test('of createScheduler is an error', () => {
    expect(() => createScheduler({} as never)).toThrow('createLimiter');
    expect(() => scene({ ahead: '2m' })).toThrow('`createScheduler.ahead` must be');
    expect(() => scene({ maxWaiting: 0 })).toThrow('`createScheduler.maxWaiting` must be');
    expect(() => scene({ ahed: 1 } as never)).toThrow('no option `ahed`');
    const time = Object.assign(new FakeTime(), { timersEndWithRequest: true });
    expect(() => createScheduler(createLimiter({ limits: { Api: LIMITS.Api }, time }))).toThrow('timers end');
  });

  test('an `ahead` above the maxWait of a limit is an error, and the default one is shortened', async () => {
    const limits = { Api: { key, burst: 1, count: 10, period: '1s', maxWait: '20ms' } };
    const given = scene({ ahead: '100ms' }, { limits });
    await expect(given.run('call', on('Api'))).rejects.toThrow(
      '`createScheduler.ahead` of limit "Api" must be at most its maxWait, 20 ms',
    );
    const { run, time, starts } = scene({}, { limits });
    for (let i = 0; i < 3; i++) void run('call', on('Api'));
    await time.pass(300);
    expect(starts.map(([, atMs]) => atMs)).toEqual([0, 100, 200]);
  });
});

/** A signal whose listeners are counted. */
function watchedSignal() {
  const controller = new AbortController();
  const { signal } = controller;
  let [added, removed] = [0, 0];
  const listeners = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (type: string, listener: never, options?: never) => {
    added++;
    listeners.add(listener);
    add(type, listener, options);
  };
  signal.removeEventListener = (type: string, listener: never) => {
    if (listeners.delete(listener)) removed++;
    remove(type, listener);
  };
  return { signal, added: () => added, removed: () => removed, abort: (reason: Error) => controller.abort(reason) };
}
