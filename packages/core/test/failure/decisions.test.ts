import { describe, expect, test } from 'vitest';
import { accountId, createLimiter, memoryStore, type Store } from '../../src/index.ts';
import { answersAtOnce, answersSoon, rejects, ScriptedStore } from './support/scripted-store.ts';

const scripted = (...script: ConstructorParameters<typeof ScriptedStore>) => new ScriptedStore(...script);

const stores: [name: string, make: () => Store][] = [
  ['a store that can not fail', memoryStore],
  ['a store that answers at once', () => scripted(answersAtOnce)],
  ['a store that answers by a promise', () => scripted(answersSoon)],
  ['the local policy', () => scripted(rejects(new Error('down')))],
];

const asked = [{ limit: 'Orders', id: '1', cost: 3 }] as const;

describe.each(stores)('what %s decides', (_, make) => {
  const limiter = () =>
    createLimiter({
      limits: { Orders: { key: accountId(), burst: 10, count: 1, period: '1h' } },
      store: make(),
      log: false,
    });

  test('reports what a spend took', async () => {
    const { results } = await limiter().spend(asked);
    expect(results).toMatchObject([{ allowed: true, spent: 3, remaining: 7 }]);
  });

  test('reports that a check took nothing, so that nothing of it can be refunded', async () => {
    const own = limiter();
    const decision = await own.check(asked);
    expect(decision.results).toMatchObject([{ allowed: true, spent: 0, remaining: 10 }]);
    expect(await own.refund(decision)).toEqual([]);
  });
});

test.each([
  ['at once', answersAtOnce],
  ['by a promise', answersSoon],
])('an error of our own after a good answer, %s, does not count as a failure of the store', async (_, answers) => {
  const store = scripted(answers);
  const limiter = createLimiter({ limits: { Orders: { key: accountId(), burst: 10, count: 1, period: '1h' } }, store });
  store.behaviour = (batch) => {
    const [transaction] = batch as { mode: unknown }[];
    Object.defineProperty(transaction, 'mode', {
      get() {
        throw new Error('ours');
      },
    });
    return answers(batch);
  };
  await expect((async () => (await limiter.spend(asked)).remaining)()).rejects.toThrow('ours');
  expect(limiter.status().lastFailure).toBeUndefined();
});
