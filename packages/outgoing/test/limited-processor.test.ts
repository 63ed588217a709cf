import { accountId, createLimiter } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { FakeTime } from '@sluice/core/testing';
import { limitedProcessor, type LimitedJob } from '@sluice/outgoing';
import { describe, expect, test } from 'vitest';

const key = accountId();
const newLimiter = () =>
  createLimiter({
    limits: {
      Calls: { key, burst: 1, count: 1, period: '1h', maxWait: '1h' },
      Running: concurrency({ key, concurrency: 1 }),
    },
    log: false,
  });

/** What BullMQ stores of a job. */
class Job implements LimitedJob {
  data: any;
  readonly attemptsMade = 0;
  readonly moves: (readonly [inMs: number, token: string | undefined])[] = [];

  constructor(data: unknown) {
    this.data = data;
  }

  async updateData(data: unknown): Promise<void> {
    this.data = data;
  }

  async moveToDelayed(timestamp: number, token?: string): Promise<void> {
    this.moves.push([timestamp - Date.now(), token]);
  }
}

const calls = [{ limit: 'Calls', id: 'a' }] as const;
const running = [{ limit: 'Running', id: 'a' }] as const;

describe('a job', () => {
  test('takes its turn once, and begins when that has come', async () => {
    const limiter = newLimiter();
    await limiter.spend(calls);
    const limited = limitedProcessor(
      limiter,
      () => calls,
      (job: Job) => job.data,
    );
    const job = new Job({ to: 'x' });
    await expect(limited(job, 'token')).rejects.toMatchObject({ name: 'DelayedError' });
    const { sluiceTurn: turn } = job.data;
    expect(turn.at - Date.now()).toBeGreaterThan(3_500_000);
    expect(job.moves[0]![1]).toBe('token');
    // Promoted too early, it waits for the same turn.
    await expect(limited(job, 'token')).rejects.toMatchObject({ name: 'DelayedError' });
    expect([job.moves.length, job.data.sluiceTurn]).toEqual([2, turn]);
    job.data.sluiceTurn = { ...turn, at: Date.now() - 1 };
    expect(await limited(job, 'token')).toEqual({ to: 'x' });
  });

  test.each([
    ['is late by more than a second', -5000, 0],
    ['was that of another attempt', -1, 1],
  ])('whose turn %s takes another one', async (_, at, attempt) => {
    const limiter = newLimiter();
    await limiter.spend(calls);
    const job = new Job({ sluiceTurn: { at: Date.now() + at, attempt } });
    await expect(
      limitedProcessor(
        limiter,
        () => calls,
        () => 1,
      )(job, 't'),
    ).rejects.toThrow('delayed');
    expect(job.data.sluiceTurn.at - Date.now()).toBeGreaterThan(3_500_000);
  });

  test('waits for its turn from when that was taken, however long its entries take', async () => {
    const time = new FakeTime();
    const limits = { Calls: { key, burst: 1, count: 1, period: '1h', maxWait: '1h' } } as const;
    const limiter = createLimiter({ limits, time, log: false });
    await limiter.spend(calls);
    const entriesOf = async (): Promise<typeof calls> => {
      await time.pass(5000);
      return calls;
    };
    const job = new Job({});
    await expect(limitedProcessor(limiter, entriesOf, () => 1)(job, 't')).rejects.toThrow('delayed');
    expect(job.data.sluiceTurn.at).toBe(3_600_000);
  });

  test.each([
    [-1, 'delayed'],
    [0, 'begun'],
    [999, 'begun'],
    [1000, 'delayed'],
  ])('begins when its turn has come, and not a second later: %d ms after it', async (afterMs, outcome) => {
    const time = new FakeTime();
    const limits = { Calls: { key, burst: 1, count: 1, period: '1h', maxWait: '1h' } } as const;
    const limiter = createLimiter({ limits, time, log: false });
    await limiter.spend(calls);
    const limited = limitedProcessor(
      limiter,
      () => calls,
      () => 'begun',
    );
    const job = new Job({});
    const run = (): Promise<string> =>
      limited(job, 't').catch(({ name }: Error) => name.replace('DelayedError', 'delayed'));
    expect([await run(), job.data.sluiceTurn.at]).toEqual(['delayed', 3_600_000]);
    time.advance(3_600_000 + afterMs);
    expect(await run()).toBe(outcome);
  });

  test('holds its slots until it has ended, also when it fails', async () => {
    const limiter = newLimiter();
    const free = async () => (await limiter.check([{ limit: 'Running', id: 'a', cost: 0 }])).remaining;
    const seen: unknown[] = [];
    const limited = limitedProcessor(
      limiter,
      () => running,
      async () => {
        seen.push(await free());
        throw new Error('failed');
      },
    );
    await expect(limited(new Job({}), 't')).rejects.toThrow('failed');
    expect([...seen, await free()]).toEqual([0, 1]);
  });

  test('without a free slot comes back, and keeps its turn', async () => {
    const limiter = newLimiter();
    const held = await limiter.spend(running, { hold: true });
    const limited = limitedProcessor(
      limiter,
      () => [...calls, ...running],
      () => 'done',
    );
    const waiting = new Job({});
    await expect(limited(waiting, 't')).rejects.toThrow('delayed');
    // Nothing was taken for it.
    expect([waiting.data, waiting.moves.length]).toEqual([{}, 1]);
    await limiter.spend(calls);
    waiting.data = { sluiceTurn: { at: Date.now() - 1, attempt: 0 } };
    await expect(limited(waiting, 't')).rejects.toThrow('delayed');
    await held.release();
    waiting.data.sluiceTurn.at = Date.now() - 1;
    expect(await limited(waiting, 't')).toBe('done');
  });

  test('of a blocked id fails, because no wait lets it begin', async () => {
    const limiter = createLimiter({
      limits: { Calls: { key, count: 1, period: '1h' } },
      overrides: { Calls: { a: 'blocked' } },
      log: false,
    });
    const limited = limitedProcessor(
      limiter,
      () => calls,
      () => 1,
    );
    const job = new Job({});
    await expect(limited(job, 't')).rejects.toMatchObject({ code: 'ERR_NOT_BEGUN', reason: 'never' });
    expect(job.moves).toEqual([]);
  });

  test.each([null, 'soon', { at: 'soon' }])('with a turn that is none, %j, takes one', async (sluiceTurn) => {
    const limited = limitedProcessor(
      newLimiter(),
      () => calls,
      (job: Job) => job.data,
    );
    expect(await limited(new Job({ to: 'x', sluiceTurn }), 't')).toEqual({ to: 'x' });
  });

  test('whose data is not an object is an error, and takes nothing', async () => {
    const limiter = newLimiter();
    await limiter.spend(calls);
    const limited = limitedProcessor(
      limiter,
      () => calls,
      () => 1,
    );
    await expect(limited(new Job('text'), 't')).rejects.toThrow("`job.data` must be an object, but was 'text'");
    // The token of the next hour, which that job would have had.
    expect((await limiter.spend(calls)).allowed).toBe(true);
  });
});

test.each([
  ['nothing', undefined],
  ['an empty text', ''],
])('entries of a job that keeps its turn, and that are %s, are an error', async (_, entries) => {
  const limited = limitedProcessor(
    newLimiter(),
    () => entries as never,
    () => 1,
  );
  const kept = new Job({ sluiceTurn: { at: Date.now(), attempt: 0 } });
  await expect(limited(kept, 't')).rejects.toThrow('`entries` must be an array');
});

test.each([
  ['nothing', undefined, '`entries` must be an array'],
  ['an empty text', '', '`entries` must be an array'],
  ['no id', [{ limit: 'Calls' }], '`id` of limit "Calls" must be a string, but was undefined. Without an id,'],
  ['a limit of another limiter', [{ limit: 'Other', id: 'a' }], "No limit is named 'Other'. Limits: Calls, Running."],
  ['a cost above the burst', [{ ...calls[0], cost: 2 }], 'must be at most the burst, 1, but was 2. Such a request'],
])('entries of a job that are wrong are an error, and take nothing: %s', async (_, entries, message) => {
  const limiter = newLimiter();
  const limited = limitedProcessor(
    limiter,
    () => entries as never,
    () => 1,
  );
  await expect(limited(new Job({}), 't')).rejects.toThrow(message);
  expect((await limiter.check(calls)).remaining).toBe(1);
});

test('what is not a limiter or a function is an error', () => {
  const limiter = newLimiter();
  expect(() =>
    limitedProcessor(
      {} as never,
      () => [],
      () => 1,
    ),
  ).toThrow('limiter');
  expect(() => limitedProcessor(limiter, [] as never, () => 1)).toThrow(
    '`limitedProcessor(entriesOf)` must be a function',
  );
  expect(() => limitedProcessor(limiter, () => [], 1 as never)).toThrow(
    '`limitedProcessor(process)` must be a function',
  );
});
