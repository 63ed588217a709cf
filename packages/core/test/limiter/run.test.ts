import { expect, test } from 'vitest';
import { holding } from '../kinds/concurrency/slots/support/holding.ts';
import { deferred, settled } from '../support/promises.ts';
import { rejected } from '../support/thrown.ts';

const LIMITS = {
  Tokens: { burst: 100, count: 1, period: '1s' },
  Queue: { burst: 1, count: 10, period: '1s', maxWait: '1s' },
  Slower: { burst: 1, count: 5, period: '1s', maxWait: '1s' },
  InFlight: { concurrency: 2 },
};
const id = 'a';
const entries = [
  { limit: 'Tokens', id, cost: 40 },
  { limit: 'Queue', id },
  { limit: 'Slower', id },
  { limit: 'InFlight', id },
];

function started() {
  const made = holding(LIMITS);
  const left = (limit: string): number => made.limiter.checkSync([{ limit, id, cost: 0 }]).remaining;
  return { ...made, left };
}

test('work begins after the longest delay of its limits, with its slots, which are free when it has ended', async () => {
  const { limiter, time, left } = started();
  const begun: number[] = [];
  const work = () => void begun.push(time.nowMs - 1000);
  const all = [limiter.run(entries, work), limiter.run(entries, work)];
  await settled();
  expect(left('InFlight')).toBe(1);
  await time.pass(199.999);
  expect(begun).toEqual([0]);
  await time.pass(0.001);
  expect(await Promise.all(all)).toMatchObject([{ allowed: true }, { allowed: true, decision: { delayMs: 200 } }]);
  expect([begun, left('InFlight')]).toEqual([[0, 200], 2]);
});

test('a denied run begins no work and settles nothing', async () => {
  const { limiter, left } = started();
  limiter.spendSync([{ limit: 'Tokens', id, cost: 70 }]);
  const ran = await limiter.run(entries, () => expect.unreachable(), { settle: () => expect.unreachable() });
  expect(ran).toMatchObject({ allowed: false, decision: { limit: 'Tokens' } });
  expect([left('Tokens'), left('InFlight')]).toEqual([30, 2]);
});

test('a wait that is aborted gives back tokens and slots, and begins no work', async () => {
  const { limiter, left } = started();
  await limiter.run(entries, () => 1);
  const leaving = new AbortController();
  const run = limiter.run(entries, () => expect.unreachable(), { signal: leaving.signal });
  await settled();
  expect([left('Tokens'), left('InFlight')]).toEqual([20, 1]);
  leaving.abort(new Error('left'));
  await expect(run).rejects.toThrow('left');
  expect([left('Tokens'), left('InFlight')]).toEqual([60, 2]);
});

test('work that was aborted is settled, after its slots are free', async () => {
  const { limiter, left } = started();
  const leaving = new AbortController();
  const work = deferred<string>();
  const ends: unknown[] = [];
  const run = limiter.run(entries, () => work.promise, {
    signal: leaving.signal,
    settle: (value, { error, aborted }) => {
      ends.push(value, error, aborted, left('InFlight'));
      return { Tokens: 7 };
    },
  });
  await settled();
  leaving.abort();
  work.reject('broken');
  expect(await run.catch((error: unknown) => error)).toBe('broken');
  expect([ends, left('Tokens')]).toEqual([[undefined, 'broken', true, 2], 93]);
});

test.each([
  ['throws', () => { throw new Error('no usage'); }],
  ['names a limit that does not exist', () => ({ Token: 5 })],
  ['returns a wrong cost', async () => ({ Tokens: -5 })],
])('when settle %s, the costs stay as they were taken, the value is returned, and there is an event', async (_, settle) => {
  const { limiter, events, left } = started();
  expect(await limiter.run(entries, () => 'done', { settle })).toMatchObject({ value: 'done' });
  expect(left('Tokens')).toBe(60);
  expect(events).toMatchObject([{ type: 'callback-failed', callback: 'settle' }]);
}); // prettier-ignore

test('close waits for a settlement in progress', async () => {
  const { limiter, events } = started();
  const usage = deferred<{ Tokens: number }>();
  const run = limiter.run(entries, () => 'done', { settle: () => usage.promise });
  await settled();
  const closing = limiter.close();
  usage.resolve({ Tokens: 5 });
  await Promise.all([run, closing]);
  expect([(await run).allowed, events]).toEqual([true, []]);
});

test('run decides by the first alternative that passes, and says what is wrong with its arguments', async () => {
  const { limiter } = started();
  const firstOf = [[{ limit: 'Tokens', id, cost: 60 }], [{ limit: 'Queue', id }]];
  const limits = [await limiter.run({ firstOf }, () => 1), await limiter.run({ firstOf }, () => 1)];
  expect(limits.map(({ decision }) => decision.limit)).toEqual(['Tokens', 'Queue']);
  const wrong = [
    () => limiter.run(entries, 'work' as never),
    () => limiter.run(entries, () => 1, { settle: 5 as never }),
    () => limiter.run(entries, () => 1, { signal: 5 as never }),
  ];
  for (const call of wrong) expect((await rejected(call)).code).toBe('ERR_OPTION');
  expect((await rejected(() => limiter.run(entries, () => 1, { hold: true } as never))).code).toBe(
    'ERR_UNKNOWN_OPTION',
  );
});
