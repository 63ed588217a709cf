import { describe, expect, test } from 'vitest';
import { answer, learner, turns } from '../support/provider-answers.ts';

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

  test('leave when their signal is aborted, and leave nothing behind', async () => {
    const { send, queue, time, learning } = learner();
    await answer(send(), 429, after('2'));
    const [controller, reason] = [new AbortController(), new Error('enough')];
    const log: string[] = [];
    const [left, stays] = [queue(log, 'left', controller.signal), queue(log, 'stays')];
    controller.abort(reason);
    await expect(left).rejects.toBe(reason);
    await expect(queue(log, 'late', AbortSignal.abort(reason))).rejects.toBe(reason);
    await time.pass(2000);
    expect(log).toEqual(['stays@2000']);
    time.advance(60_000);
    await answer(await stays, 200);
    expect(learning.size).toBe(0);
    expect(time.pending).toBe(0);
  });
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
