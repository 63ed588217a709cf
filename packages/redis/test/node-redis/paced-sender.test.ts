import { describe, expect, test } from 'vitest';
import { PacedSender } from '../../src/node-redis/paced-sender.ts';

// oxlint-disable-next-line no-restricted-globals -- the sender goes by the same iterations of the event loop
const iteration = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const long = (name: string): string[] => [name, ...Array.from({ length: 40 }, () => 'x')];

function recorded() {
  const sent: string[] = [];
  const sender = new PacedSender(([name = '']) => {
    sent.push(name);
    return Promise.resolve(`reply to ${name}`);
  });
  return { sent, sender };
}

describe('commands for node-redis', () => {
  test('are sent in their order, at most one long one in each iteration of the event loop', async () => {
    const { sent, sender } = recorded();
    const replies = [['a'], long('B'), ['c'], ['d'], long('E'), ['f']].map((words) => sender.send(words));
    expect(sent).toEqual(['a', 'B']);
    await iteration();
    expect(sent).toEqual(['a', 'B', 'c', 'd', 'E']);
    replies.push(sender.send(['g']));
    await iteration();
    expect(sent).toEqual(['a', 'B', 'c', 'd', 'E', 'f', 'g']);
    expect(await Promise.all(replies)).toEqual(['a', 'B', 'c', 'd', 'E', 'f', 'g'].map((name) => `reply to ${name}`));
  });

  test('are sent at once if they are short, or after an iteration without a long one', async () => {
    const { sent, sender } = recorded();
    for (const name of ['a', 'b', 'c']) void sender.send([name]);
    expect(sent).toEqual(['a', 'b', 'c']);
    void sender.send(long('D'));
    await iteration();
    void sender.send(long('E'));
    expect(sent).toEqual(['a', 'b', 'c', 'D', 'E']);
  });

  test('reject with the error of node-redis, also one that it throws, and those behind are sent', async () => {
    const sender = new PacedSender(([word]) => {
      if (word === 'thrown') throw new Error('thrown');
      return word === 'rejected' ? Promise.reject(new Error('rejected')) : Promise.resolve(word);
    });
    const replies = ['first', 'thrown', 'rejected', 'last'].map((word) => sender.send(long(word)));
    expect(await Promise.allSettled(replies)).toMatchObject([
      { value: 'first' },
      { reason: { message: 'thrown' } },
      { reason: { message: 'rejected' } },
      { value: 'last' },
    ]);
  });

  test('are written by themselves by a client that writes all commands of an iteration together, as node-redis does', async () => {
    const writes: string[][] = [];
    let waiting: string[] = [];
    const flush = (): void => {
      writes.push(waiting);
      waiting = [];
    };
    const sender = new PacedSender(async ([name = '']) => {
      // oxlint-disable-next-line no-restricted-globals -- as node-redis does
      if (waiting.push(name) === 1) setImmediate(flush);
    });
    await Promise.all(['A', 'B', 'C'].map((name) => sender.send(long(name))));
    await iteration();
    expect(writes).toEqual([['A'], ['B'], ['C']]);
  });
});
