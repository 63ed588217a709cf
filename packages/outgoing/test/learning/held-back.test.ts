import { accountId, createLimiter } from '@sluice/core';
import { quota } from '@sluice/core/quota';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { Learning } from '../../src/index.ts';
import { answer, learner, turns } from '../support/provider-answers.ts';

const key = accountId();
const after = (text: string) => ({ 'retry-after': text });

describe('calls whose tokens are taken', () => {
  test('wait until a denial is over, then one probes, and the others follow its answer', async () => {
    const { send, queue, time } = learner();
    await answer(send(), 429, after('2'));
    const log: string[] = [];
    const [first] = ['a', 'b', 'c'].map((name) => queue(log, name));
    await time.pass(1999);
    expect(log).toEqual([]);
    await time.pass(500);
    expect(log).toEqual(['a@2000']);
    await answer(await first!, 200);
    await turns();
    expect(log).toEqual(['a@2000', 'b@2499', 'c@2499']);
  });

  test('wait for the next probe where that is denied too, or ends without an answer', async () => {
    const { send, queue, time } = learner();
    await answer(send(), 429, after('2'));
    const log: string[] = [];
    const [a, b] = ['a', 'b', 'c'].map((name) => queue(log, name));
    await time.pass(2000);
    await answer(await a!, 429, after('3'));
    await time.pass(2999);
    expect(log).toEqual(['a@2000']);
    await time.pass(1);
    (await b!).ended();
    await turns();
    expect(log).toEqual(['a@2000', 'b@5000', 'c@5000']);
  });

  test('wait for a probe that hangs no longer than learnAtMost', async () => {
    const { send, queue, time } = learner(undefined, { learnAtMost: '10s' });
    await answer(send(), 429, after('2'));
    const log: string[] = [];
    for (const name of ['a', 'b']) void queue(log, name);
    await time.pass(60_000);
    expect(log).toEqual(['a@2000', 'b@12000']);
  });

  test('are as many on their way as the provider has left, for learnAtMost', async () => {
    const { send, queue, time } = learner();
    await answer(send(), 200, { ratelimit: '"a";r=2;t=5' });
    const log: string[] = [];
    const [a] = ['a', 'b', 'c', 'd'].map((name) => queue(log, name));
    await turns();
    expect(log).toEqual(['a@0', 'b@0']);
    await answer(await a!, 200, { ratelimit: '"a";r=1;t=5' });
    await turns();
    expect(log).toEqual(['a@0', 'b@0']);
    await time.pass(59_999);
    expect(log).toEqual(['a@0', 'b@0']);
    await time.pass(1);
    expect(log).toEqual(['a@0', 'b@0', 'c@60000', 'd@60000']);
  });

  test('leave twice as many as other processes used during the latest call', async () => {
    const { send, queue } = learner();
    const left = (r: number) => ({ ratelimit: `"a";r=${r};t=5` });
    await answer(send(), 200, left(60));
    const log: string[] = [];
    const [a, b, c, d] = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => queue(log, name));
    await answer(await a!, 200, left(49));
    await turns();
    expect(log).toEqual(['a@0', 'b@0', 'c@0', 'd@0']);
    // 10 were others', and 2 calls are on their way.
    await answer(await b!, 200, left(22));
    await turns();
    expect(log).toHaveLength(4);
    await answer(await c!, 200, left(21));
    expect(log).toHaveLength(4);
    await answer(await d!, 200, left(20));
    await turns();
    expect(log).toHaveLength(5);
  });

  test('are one where nothing is left and no time is given', async () => {
    const { send, queue } = learner();
    await answer(send(), 200, { ratelimit: '"a";r=0' });
    const log: string[] = [];
    const [a] = ['a', 'b'].map((name) => queue(log, name));
    await turns();
    expect(log).toEqual(['a@0']);
    await answer(await a!, 200);
    await turns();
    expect(log).toEqual(['a@0', 'b@0']);
  });

  test('have their probe even while a call from before the denial is on its way', async () => {
    const { send, queue, time } = learner();
    const before = send();
    await answer(send(), 429, after('2'));
    const log: string[] = [];
    void queue(log, 'a');
    await time.pass(2000);
    expect(log).toEqual(['a@2000']);
    before.ended();
  });

  test('do not begin together because a call from before the denial passes', async () => {
    const { send, queue, time } = learner();
    const before = send();
    await answer(send(), 429, after('2'));
    await answer(before, 200);
    const log: string[] = [];
    for (const name of ['a', 'b']) void queue(log, name);
    await time.pass(2000);
    expect(log).toEqual(['a@2000']);
  });

  test('begin after any answer to a call that was sent after the denial', async () => {
    const { send, queue, time } = learner(undefined, { learnAtMost: '10s' });
    await answer(send(), 429, after('2'));
    await time.pass(12_000);
    // Nothing is believed any more, so that no call waits for the other.
    const [first] = [send(), send()];
    await answer(first, 200, { ratelimit: '"a";r=50;t=5' });
    const log: string[] = [];
    void queue(log, 'a');
    await turns();
    expect(log).toEqual(['a@12000']);
  });

  test('are one more with each answer after a denial, as in the slow start of TCP', async () => {
    const { send, queue, time } = learner();
    await answer(send(), 429, after('2'));
    const log: string[] = [];
    const calls = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => queue(log, name));
    const begun: string[] = [];
    await time.pass(2000);
    for (const call of calls.slice(0, 3)) {
      begun.push(log.splice(0).join(' '));
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await answer(await call, 200);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await turns();
    }
    expect([...begun, log.join(' ')]).toEqual(['a@2000', 'b@2000 c@2000', 'd@2000 e@2000', 'f@2000 g@2000']);
  });

  test.each([
    ['as before', 50, 49, 3],
    ['one after a pause', 101, 49, 1],
    ['as many as are left beside twice what others use', 50, 22, 2],
  ])('beside others are %s', async (_, idleMs, left, begun) => {
    const { send, queue, time } = learner();
    await answer(send(), 200, { ratelimit: `"a";r=${left + 11};t=5` });
    const call = send();
    time.advance(100);
    await answer(call, 200, { ratelimit: `"a";r=${left};t=5` });
    time.advance(idleMs);
    const log: string[] = [];
    const calls = ['a', 'b', 'c', 'd', 'e'].map((name) => queue(log, name));
    await turns();
    expect(log).toHaveLength(begun);
    await answer(await calls[0]!, 200);
    await turns();
    expect(log.length - begun).toBe(begun === 3 ? 1 : 2);
  });

  test('are two after the first answer, however much is left', async () => {
    const { send, queue } = learner();
    await answer(send(), 200, { ratelimit: '"a";r=90;t=5' });
    const log: string[] = [];
    for (const name of ['a', 'b', 'c']) void queue(log, name);
    await turns();
    expect(log).toEqual(['a@0', 'b@0']);
  });

  test('are more than were left when a later answer says nothing, but not when one to an earlier call does', async () => {
    const { send, queue, time } = learner();
    const before = send();
    time.advance(1);
    await answer(send(), 200, { ratelimit: '"a";r=2;t=5' });
    await answer(before, 200);
    const log: string[] = [];
    const [a] = ['a', 'b', 'c', 'd', 'e'].map((name) => queue(log, name));
    await turns();
    expect(log.splice(0)).toEqual(['a@1', 'b@1']);
    await answer(await a!, 200);
    await turns();
    expect(log).toEqual(['c@1', 'd@1', 'e@1']);
  });

  test('begin one after the other where a denial is believed as long as it lasts', async () => {
    const { send, queue, time } = learner(undefined, { learnAtMost: '5s' });
    await answer(send(), 429, after('5'));
    const log: string[] = [];
    for (const name of ['a', 'b']) void queue(log, name);
    await time.pass(9000);
    expect(log).toEqual(['a@5000']);
  });

  test('wait for the longer of two denials', async () => {
    const { send, queue, time } = learner({ Month: quota({ key, count: 100, per: 'month' }) });
    const [long, short] = [send(), send()];
    await answer(long, 429, after('30'));
    await answer(short, 429, after('5'));
    const log: string[] = [];
    void queue(log, 'a');
    await time.pass(60_000);
    expect(log).toEqual(['a@30000']);
  });

  test.each([
    [
      [3, 3],
      [false, true],
    ],
    [
      [3, 2, 1],
      [false, false, true],
    ],
    // One may always ask again.
    [
      [8, 1],
      [false, true],
    ],
  ])('of several tokens are those that fit into the 5 that are left: %j', async (costs, waits) => {
    const limits = { Requests: { key, count: 100, period: '1s' }, Tokens: { key, count: 1000, period: '1s' } } as const;
    const { send, learning } = learner(limits, { learn: { tokens: 'Tokens' } });
    await answer(send(), 200, { 'x-ratelimit-remaining-tokens': '5' });
    const begun = costs.map((cost) =>
      learning.begin([
        { limit: 'Requests', id: '7' },
        { limit: 'Tokens', id: '7', cost },
      ]),
    );
    expect(begun.map((call) => call instanceof Promise)).toEqual(waits);
  });

  test('leave when their signal is aborted, and leave nothing behind', async () => {
    const { send, queue, time, learning } = learner();
    await answer(send(), 429, after('2'));
    const [controller, reason] = [new AbortController(), new Error('enough')];
    const log: string[] = [];
    const [left, stays] = [queue(log, 'left', controller), queue(log, 'stays')];
    controller.abort(reason);
    await expect(left).rejects.toBe(reason);
    await expect(queue(log, 'late', controller)).rejects.toBe(reason);
    await time.pass(2000);
    expect(log).toEqual(['stays@2000']);
    time.advance(60_000);
    await answer(await stays, 200);
    expect(learning.size).toBe(0);
    expect(time.pending).toBe(0);
  });
});

test('a call is not held back where nothing is known, though the clock moves whenever it is read', () => {
  const time = new FakeTime();
  const read = time.nowMicros.bind(time);
  time.nowMicros = () => {
    time.set(time.nowMs + 0.001);
    return read();
  };
  const learning = new Learning(createLimiter({ limits: { Api: { key, count: 1, period: '1s' } }, time }));
  expect(learning.begin([{ limit: 'Api', id: '7' }])).not.toBeInstanceOf(Promise);
});

test('of 10,000 ids, only those are remembered that have calls on their way, or learnt of late', async () => {
  const { send, learning, time } = learner(undefined, { learnAtMost: '1s' });
  const open = send({}, 'open');
  for (let i = 0; i < 10_000; i++) {
    await answer(send({}, String(i)), i % 10 === 0 ? 429 : 200, after('1'));
    time.advance(1);
  }
  expect(learning.size).toBeLessThan(1001);
  open.ended();
});
