import { describe, expect, test } from 'vitest';
import { AnswerWaits } from '../../src/time/answer-waits.ts';
import { CountedTime } from '../support/counted-time.ts';
import { deferred } from '../support/promises.ts';
import { RequestTime } from '../support/request-time.ts';

const late = (): Error => new Error('late');
const never = (): Promise<never> => new Promise(() => {});

describe('a wait for an answer', () => {
  test('settles as the answer does, and leaves no timer', async () => {
    const time = new CountedTime();
    const waits = new AnswerWaits(50, time);
    expect(await waits.race(Promise.resolve(1), late)).toBe(1);
    await expect(waits.race(Promise.reject(new Error('no')), late)).rejects.toThrow('no');
    expect(time.pending).toBe(0);
  });

  test('rejects when its time is over, whatever the answer is then', async () => {
    const time = new CountedTime();
    const answer = deferred<number>();
    const waited = new AnswerWaits(50, time).race(answer.promise, late);
    const outcome = Promise.allSettled([waited]);
    await time.pass(49);
    expect(time.pending).toBe(1);
    await time.pass(1);
    expect(await outcome).toMatchObject([{ reason: { message: 'late' } }]);
    answer.reject(new Error('too late'));
    expect(time.pending).toBe(0);
  });

  test('can be ended with all others, once', async () => {
    const time = new CountedTime();
    const waits = new AnswerWaits(50, time);
    const all = Promise.allSettled([waits.race(never(), late), waits.race(never(), late)]);
    waits.expireAll();
    waits.expireAll();
    expect(await all).toMatchObject([{ reason: { message: 'late' } }, { reason: { message: 'late' } }]);
    expect(time.pending).toBe(0);
  });

  test('is dropped a minute later, if its timer has ended with its request', async () => {
    const time = new RequestTime();
    const waits = new AnswerWaits(50, time);
    const ended: string[] = [];
    const note = (name: string) => () => void ended.push(name);
    time.left(() => void waits.race(never(), late).catch(note('left')));
    await time.pass(60_000);
    const stays = waits.race(never(), late).catch(note('stays'));
    waits.expireAll();
    await stays;
    expect(ended).toEqual(['stays']);
  });
});
