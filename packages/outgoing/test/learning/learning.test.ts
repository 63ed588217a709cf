import { accountId } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { describe, expect, test } from 'vitest';
import { answer, learner } from '../support/provider-answers.ts';

const key = accountId();
const after = (text: string) => ({ 'retry-after': text });

describe('what an answer teaches', () => {
  test('of a denial holds every process back as long as it says', async () => {
    const { send, waitMs, time } = learner();
    await answer(send(), 429, after('2'));
    expect(waitMs()).toBe(2000);
    time.advance(1999.999);
    expect(waitMs()).toBeGreaterThan(0);
    time.advance(0.001);
    expect(waitMs()).toBe(0);
  });

  test('is believed for a minute, or learnAtMost', async () => {
    const [usual, short] = [learner(), learner(undefined, { learnAtMost: '5s' })];
    for (const { send } of [usual, short]) await answer(send(), 503, after('3600'));
    expect([usual.waitMs(), short.waitMs()]).toEqual([60_000, 5000]);
  });

  test('of what is left lowers what is left here, minus what is on its way', async () => {
    const { send, left } = learner();
    const first = send();
    send();
    await answer(first, 200, { ratelimit: '"a";r=30;t=10' });
    expect(left()).toBe(29);
  });

  test('of what is left is at least one, by which a call may ask again', async () => {
    const { send, left } = learner();
    const [first] = [send(), send(), send()];
    await answer(first, 200, { ratelimit: '"a";r=1;t=10' });
    expect(left()).toBe(1);
  });

  test('of several limits is the strictest', async () => {
    const { send, left, waitMs } = learner();
    await answer(send(), 200, { ratelimit: '"a";r=30;t=10, "b";r=20', 'x-ratelimit-remaining': '25' });
    expect(left()).toBe(20);
    await answer(send(), 200, { ratelimit: '"a";r=0;t=3, "b";r=0;t=7' });
    expect(waitMs()).toBe(7000);
  });

  test('never adds tokens, and never ends a denial', async () => {
    const { send, left, waitMs, limiter } = learner();
    const later = send();
    await limiter.charge([{ limit: 'Api', id: '7', cost: 90 }]);
    await answer(send(), 200, { ratelimit: '"a";r=30;t=10' });
    expect(left()).toBe(10);
    await answer(send(), 429, after('9'));
    await answer(later, 200, { ratelimit: '"a";r=30;t=10' });
    expect(waitMs()).toBe(9000);
  });

  test('was sent before what is known: then it changes nothing', async () => {
    const { send, waitMs, left, time } = learner();
    const first = send();
    time.advance(1);
    await answer(send(), 200, { ratelimit: '"a";r=50;t=10' });
    expect(left()).toBe(49);
    await answer(first, 200, { ratelimit: '"a";r=30;t=10' });
    expect([left(), waitMs()]).toEqual([49, 0]);
  });

  test('of a denial counts also where it was sent before what is known', async () => {
    const { send, waitMs, time } = learner();
    const first = send();
    time.advance(1);
    await answer(send(), 200, { ratelimit: '"a";r=50;t=10' });
    await answer(first, 429, after('30'));
    expect(waitMs()).toBe(30_000);
  });

  test('is learnt of each id by itself', async () => {
    const { send, limiter } = learner();
    await answer(send({}, '8'), 429, after('30'));
    await answer(send({}, '7'), 429, after('5'));
    const waits = ['7', '8', '9'].map((id) => limiter.checkSync([{ limit: 'Api', id }]).retryAfterMs);
    expect(waits).toEqual([5000, 30_000, 0]);
  });

  test('without a time is a second, twice as long after each denial, until a call passes', async () => {
    const { send, waitMs, time } = learner();
    const waits: number[] = [];
    for (let i = 0; i < 8; i++) {
      await answer(send(), 429, i % 2 === 0 ? {} : after('0'));
      waits.push(waitMs());
      time.advance(waits.at(-1)!);
    }
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
    await answer(send(), 200);
    time.advance(10);
    await answer(send(), 429);
    expect(waitMs()).toBe(1000);
  });

  test('without a time is longer each time, though a call from before passes', async () => {
    const { send, waitMs, time } = learner();
    const before = send();
    time.advance(1);
    await answer(send(), 429);
    await answer(before, 200);
    time.advance(1000);
    await answer(send(), 429);
    expect(waitMs()).toBe(2000);
  });

  test('without a time counts once for calls that were sent together', async () => {
    const { send, waitMs } = learner();
    const calls = Array.from({ length: 16 }, () => send());
    for (const call of calls) await answer(call, 429);
    expect(waitMs()).toBe(1000);
  });

  test('of a call that has ended, or whose limiter is closed, is nothing', async () => {
    const { send, waitMs, limiter, learning } = learner();
    const [ended, late] = [send(), send()];
    ended.ended();
    await answer(ended, 429, after('30'));
    expect(waitMs()).toBe(0);
    await limiter.close();
    await expect(answer(late, 429, after('30'))).resolves.toBeUndefined();
    expect(learning.size).toBe(1);
  });
});

describe('the limit that learns', () => {
  test('is the rate that fills fastest, and another one keeps its burst', async () => {
    const { send, waitMs, left } = learner({
      Day: { key, burst: 1000, count: 1000, period: '1d' },
      Second: { key, count: 10, period: '1s' },
      Minute: { key, count: 60, period: '1m' },
    });
    await answer(send(), 429, after('30'));
    expect([waitMs('Day'), waitMs('Second'), waitMs('Minute')]).toEqual([0, 30_000, 0]);
    expect([left('Day'), left('Minute')]).toEqual([1000, 60]);
  });

  test('of requests has a cost of 1', async () => {
    const { send, left } = learner({
      Tokens: { key, count: 1000, period: '1s' },
      Requests: { key, count: 100, period: '1m' },
    });
    await answer(send({ Tokens: 200 }), 200, { ratelimit: '"a";r=20;t=10' });
    expect([left('Tokens'), left('Requests')]).toEqual([1000, 20]);
  });

  test('of tokens is the one that is named', async () => {
    const limits = { Requests: { key, count: 100, period: '1m' }, Tokens: { key, count: 1000, period: '1m' } };
    const fields = { 'x-ratelimit-remaining-requests': '50', 'x-ratelimit-remaining-tokens': '300' };
    const [named, other] = [learner(limits, { learn: { tokens: 'Tokens' } }), learner(limits)];
    for (const { send } of [named, other]) await answer(send({ Tokens: 10 }), 200, fields);
    expect([named.left('Requests'), named.left('Tokens')]).toEqual([50, 300]);
    expect([other.left('Requests'), other.left('Tokens')]).toEqual([50, 1000]);
  });

  test('of tokens that are used up holds every call back, unless it is named', async () => {
    const limits = { Requests: { key, count: 100, period: '1m' }, Tokens: { key, count: 1000, period: '1m' } };
    const fields = { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '9s' };
    const [named, other] = [learner(limits, { learn: { tokens: 'Tokens' } }), learner(limits)];
    for (const { send } of [named, other]) await answer(send({ Tokens: 10 }), 200, fields);
    expect([named.waitMs('Requests'), named.waitMs('Tokens')]).toEqual([0, 9000]);
    expect([other.waitMs('Requests'), other.waitMs('Tokens')]).toEqual([9000, 0]);
  });

  test('of a policy is the one that is named', async () => {
    const limits = { Second: { key, count: 100, period: '1s' }, Day: { key, count: 5000, period: '1d' } };
    const { send, left } = learner(limits, { learn: { perday: 'Day' }, learnAtMost: '1h' });
    await answer(send(), 200, { ratelimit: '"perday";r=4900;t=300, "permin";r=20;t=10' });
    expect([left('Second'), left('Day')]).toEqual([20, 4900]);
  });

  test('of another unit is none that is not named', async () => {
    const { send, waitMs } = learner();
    const policy = { 'ratelimit-policy': '"bytes";q=9;qu="content-bytes"' };
    await answer(send(), 200, { ...policy, ratelimit: '"bytes";r=0;t=30' });
    expect(waitMs()).toBe(0);
  });

  test('is full again after learnAtMost, however slowly it fills', async () => {
    const { send, left, waitMs, time } = learner({ Day: { key, burst: 1000, count: 1000, period: '10m' } });
    await answer(send(), 200, { ratelimit: '"a";r=1;t=10' });
    expect(left()).toBe(900);
    expect(waitMs()).toBe(0);
    time.advance(60_000);
    expect(left()).toBe(1000);
  });

  test('is known to this process alone where no rate can be restricted', async () => {
    const limits = {
      Month: quota({ key, count: 1000, per: 'month' }),
      InFlight: concurrency({ key, concurrency: 5 }),
    };
    const { send, left } = learner(limits);
    await answer(send(), 429, after('30'));
    expect([left('Month'), left('InFlight')]).toEqual([1000, 5]);
    expect(() => send()).toThrow('waits');
  });
});

test('wrong options are errors that name them', () => {
  const limits = {
    Api: { key, count: 1, period: '1s' },
    Soft: { key, count: 10, period: '1s', overshoot: 0.1 },
    Month: quota({ key, count: 5, per: 'month' }),
  };
  const wrong = (options: object) => () => learner(limits, options);
  expect(wrong({ learnAtMost: '2h' })).toThrow(expect.objectContaining({ code: 'ERR_DURATION' }));
  expect(wrong({ learn: { requests: 'Apis' } })).toThrow(expect.objectContaining({ code: 'ERR_UNKNOWN_LIMIT' }));
  expect(wrong({ learn: { requests: 'Month' } })).toThrow(/`learn.requests` must be a rate without overshoot/);
  expect(wrong({ learn: { requests: 'Soft' } })).toThrow(/`learn.requests` must be a rate without overshoot/);
  expect(wrong({ learn: 'Api' })).toThrow(/`learn` must be the names of limits/);
  expect(wrong({ learns: {} })).toThrow(/no option `learns`/);
});
