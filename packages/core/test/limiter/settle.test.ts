import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import {
  createLimiter,
  everyone,
  memoryStore,
  SluiceError,
  type Decision,
  type LimiterEvent,
  type Store,
} from '@sluice/core';
import { storeGuard, type StoreOperation } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { holding, holdingRemotely, limitsOf } from '../kinds/concurrency/slots/support/holding.ts';
import { rejected } from '../support/thrown.ts';

const LIMITS = {
  Tokens: { burst: 100, count: 1, period: '1s' },
  Month: { count: 1000, per: 'month' },
  InFlight: { concurrency: 2 },
  Group: {
    burst: 10,
    count: 1,
    period: '1s',
    borrow: { from: 'Pool', ceiling: { burst: 30, count: 1, period: '1s' } },
  },
};
const id = 'a';
const tokens = (cost = 40, more: object = {}) => ({ limit: 'Tokens', id, cost, ...more });

describe('settle changes nothing', () => {
  const { Tokens, Month } = LIMITS;
  const started = () => holding({ Tokens, Month }, { overrides: { Tokens: { vip: 'unlimited', bad: 'blocked' } } });
  const cases: readonly [what: string, spend: (made: ReturnType<typeof started>) => Decision][] = [
    ['of a denied decision', ({ limiter }) => limiter.spendSync([{ limit: 'Month', id, cost: 1000 }, tokens(100)])],
    ['of a blocked id', ({ limiter }) => limiter.spendSync([tokens(1, { id: 'bad' })])],
    ['of an unlimited id', ({ limiter }) => limiter.spendSync([tokens(1, { id: 'vip' })])],
    ['of a spend-only that did not fit', ({ limiter }) => limiter.spendSync([tokens(90, { mode: 'spend-only' })])],
  ];
  test.each(cases)('%s', async (_, spend) => {
    const made = started();
    made.limiter.spendSync([tokens(30)]);
    const before = made.limiter.checkSync([tokens(0)]);
    const decision = spend(made);
    expect(await made.limiter.settle(decision, { Tokens: 70 })).toEqual([
      { limit: 'Tokens', spent: 0, outcome: 'not-taken' },
    ]);
    expect(made.limiter.checkSync([tokens(0)]).remaining).toBe(before.remaining);
  });

  test('of limits that are not named', async () => {
    const { limiter } = started();
    const decision = limiter.spendSync([tokens(), { limit: 'Month', id, cost: 5 }]);
    expect(await limiter.settle(decision, { Month: 3 })).toMatchObject([{ limit: 'Month', spent: 3 }]);
    expect(limiter.checkSync([tokens(0)]).remaining).toBe(60);
    expect(await limiter.settle(decision, {})).toEqual([]);
  });
});

describe('settle with a limit that was not in the entries', () => {
  const { Tokens, Month } = LIMITS;
  const wrong = '`settle` must not be given the limit "Month", because the decision is about "Tokens" only';

  test('is an error, and the other limits stay as they were taken', async () => {
    const { limiter } = holding({ Tokens, Month });
    const decision = limiter.spendSync([tokens()]);
    expect(await rejected(() => limiter.settle(decision, { Tokens: 3, Month: 300 }))).toMatchObject({
      code: 'ERR_OPTION',
      message: expect.stringContaining(wrong),
    });
    expect(limiter.checkSync([tokens(0)]).remaining).toBe(60);
  });

  test('is an event of run, whose work has been done', async () => {
    const { limiter, events } = holding({ Tokens, Month });
    const ran = await limiter.run([tokens()], () => 'done', { settle: () => ({ Tokens: 3, Month: 300 }) });
    expect(ran).toMatchObject({ allowed: true, value: 'done' });
    expect(events).toMatchObject([{ type: 'callback-failed', message: expect.stringContaining(wrong) }]);
  });

  test('is none where the id is unlimited, or an alternative was taken', async () => {
    for (const vip of ['unlimited', async () => 'unlimited'] as const) {
      const overrides = typeof vip === 'string' ? { Month: { a: vip } } : (limit: string) => limit === 'Month' && vip();
      const { limiter } = holding({ Tokens, Month }, { overrides: overrides as never });
      const both = await limiter.spend([tokens(), { limit: 'Month', id, cost: 5 }]);
      const first = await limiter.spend({ firstOf: [[tokens(1)], [{ limit: 'Month', id }]] });
      for (const decision of [both, first]) {
        expect(await limiter.settle(decision, { Tokens: 2, Month: 2 })).toMatchObject([
          { limit: 'Tokens', spent: 2, outcome: 'settled' },
          { limit: 'Month', spent: 0, outcome: 'not-taken' },
        ]);
      }
    }
  });
});

test.each([
  [4, 'all of the charge and a part of the decision'],
  [5, 'all of the charge'],
  [6, 'a part of the charge'],
])('in a queue, settling to %i gives back the last turns first: %s', async (cost) => {
  const { limiter } = holding({ Queue: { burst: 5, count: 1, period: '1s', maxWait: '20s' } });
  limiter.spendSync([{ limit: 'Queue', id, cost: 5 }]);
  const decision = limiter.spendSync([{ limit: 'Queue', id, cost: 5 }]);
  await limiter.settle(decision, { Queue: 7 });
  expect(await limiter.settle(decision, { Queue: cost })).toEqual([
    { limit: 'Queue', spent: cost, outcome: 'settled' },
  ]);
  expect(limiter.spendSync([{ limit: 'Queue', id, cost: 1 }]).delayMs).toBe((cost + 1) * 1000);
});

test('in a queue, a refund after a settlement gives back the turns of its charge and of the decision', async () => {
  const { limiter } = holding({ Queue: { burst: 5, count: 1, period: '1s', maxWait: '20s' } });
  limiter.spendSync([{ limit: 'Queue', id, cost: 5 }]);
  const decision = limiter.spendSync([{ limit: 'Queue', id, cost: 5 }]);
  await limiter.settle(decision, { Queue: 7 });
  await limiter.refund(decision);
  expect(limiter.spendSync([{ limit: 'Queue', id, cost: 1 }]).delayMs).toBe(1000);
});

test('a decision that took nothing yet is charged in full', async () => {
  const { limiter } = holding({ Tokens: LIMITS.Tokens });
  const decision = limiter.spendSync([tokens(40, { mode: 'check-only' })]);
  expect(await limiter.settle(decision, { Tokens: 30 })).toMatchObject([{ spent: 30, outcome: 'settled' }]);
  expect(await limiter.settle(decision, { Tokens: 10 })).toMatchObject([{ spent: 10 }]);
  expect(limiter.checkSync([tokens(0)]).remaining).toBe(90);
});

test('a settlement is reported with the true cost, and with what it gave back or charged', async () => {
  const { limiter } = holding({ Tokens: LIMITS.Tokens });
  const reported: unknown[] = [];
  const listen = (message: unknown): void => {
    const { direction, cost } = message as { direction: string; cost: number };
    reported.push(`${direction} ${cost}`);
  };
  subscribe('sluice:correction', listen);
  const decision = limiter.spendSync([tokens()]);
  for (const cost of [10, 70]) await limiter.settle(decision, { Tokens: cost });
  unsubscribe('sluice:correction', listen);
  expect(reported).toEqual(['settled 10', 'refunded 30', 'settled 70', 'charged 60']);
});

/** A store that answers later, calls `before` with each operation, and is down while that throws. */
function lateStore(time: FakeTime, before: (operation: StoreOperation) => void | Promise<void>): Store {
  const inner = memoryStore({ time });
  return {
    guard: storeGuard,
    traits: { periods: true },
    run: async (operation) => {
      await before(operation);
      return inner.run(operation);
    },
    close: () => inner.close(),
  };
}

/** A limiter on such a store, whose decision took 40 of `Tokens` and 50 of `Month`. `time` is that of the store alone. */
async function settlingLate(before: (operation: StoreOperation) => void | Promise<void>) {
  const time = new FakeTime();
  const { Tokens, Month } = LIMITS;
  const store = lateStore(time, before);
  const limits = limitsOf({ Tokens: { ...Tokens, maxDebt: 50 }, Month });
  const limiter = createLimiter({ limits, store, time: new FakeTime(), log: false });
  const decision = await limiter.spend([tokens(), { limit: 'Month', id, cost: 50 }]);
  const reported: string[] = [];
  const note = (message: unknown): void => {
    const { limit, direction, cost } = message as { limit: string; direction: string; cost: number };
    reported.push(`${limit} ${direction} ${cost}`);
  };
  subscribe('sluice:correction', note);
  onTestFinished(() => void unsubscribe('sluice:correction', note));
  return { limiter, decision, time, reported };
}

const limitsIn = (operation: StoreOperation): readonly string[] =>
  ('batch' in operation ? operation.batch : operation.alternatives.flat()).map(({ limit }) => limit);

test('the refunds of a settlement begin together', async () => {
  const refunded: string[] = [];
  const { limiter, decision } = await settlingLate((operation) => {
    if (operation.kind !== 'refund') return undefined;
    refunded.push(...limitsIn(operation));
    return new Promise(() => undefined);
  });
  void limiter.settle(decision, { Tokens: 10, Month: 20 });
  await Promise.resolve();
  expect(refunded).toEqual(['Tokens', 'Month']);
});

test('when the refund of one limit is lost, the others are settled', async () => {
  const { limiter, decision, reported } = await settlingLate((operation) => {
    if (operation.kind === 'refund' && limitsIn(operation).includes('Month')) throw new Error('connection lost');
  });
  expect(await limiter.settle(decision, { Tokens: 10, Month: 20 })).toEqual([
    { limit: 'Tokens', spent: 10, outcome: 'settled' },
    { limit: 'Month', spent: 50, outcome: 'lost' },
  ]);
  expect(reported).toEqual(['Tokens settled 10', 'Month settled 20', 'Month lost 30', 'Tokens refunded 30']);
});

test('a settlement begins when all charges of the one before have ended, even if one was rejected', async () => {
  let charges = 0;
  const { limiter, decision } = await settlingLate(async (operation) => {
    if (operation.kind !== 'spend') return;
    if (limitsIn(operation)[0] === 'Tokens' && charges++ > 0) throw new SluiceError('ERR_OPTION', 'a wrong use');
    for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  });
  const first = limiter.settle(decision, { Tokens: 60, Month: 70 });
  const second = limiter.settle(decision, { Month: 70 });
  await expect(first).rejects.toThrow('a wrong use');
  expect(await second).toEqual([{ limit: 'Month', spent: 70, outcome: 'settled' }]);
  expect(await limiter.usage([{ limit: 'Month', id }])).toMatchObject([{ used: 70 }]);
});

test('tokens are reported as they were charged or given back, and not as they were asked for', async () => {
  const { limiter, decision, time, reported } = await settlingLate(() => undefined);
  for (const cost of [500, 600]) await limiter.settle(decision, { Tokens: cost });
  time.advance(32 * 86_400_000);
  await limiter.settle(decision, { Month: 20 });
  const changed = reported.filter((line) => !line.includes('settled'));
  expect(changed).toEqual(['Tokens charged 110']);
});

test.each([70, 20])(
  'with a store that answers at once, a settlement to %d has changed the bucket when it returns',
  async (cost) => {
    const { limiter } = holding({ Tokens: LIMITS.Tokens });
    const settled = limiter.settle(limiter.spendSync([tokens()]), { Tokens: cost });
    expect(limiter.checkSync([tokens(0)]).remaining).toBe(100 - cost);
    expect(await settled).toMatchObject([{ spent: cost, outcome: 'settled' }]);
  },
);

test('settlements of one decision at the same time follow each other', async () => {
  const { limiter } = holdingRemotely({ Tokens: LIMITS.Tokens });
  const decision = await limiter.spend([tokens()]);
  const costs = [70, 20, 0, 55];
  const all = await Promise.all(costs.map((cost) => limiter.settle(decision, { Tokens: cost })));
  expect(all.flat().map(({ spent }) => spent)).toEqual(costs);
  expect((await limiter.check([tokens(0)])).remaining).toBe(45);
});

test('a limit that borrows is settled in all its buckets', async () => {
  const { Group } = LIMITS;
  const { limiter } = holding({ Group, Pool: { key: everyone(), burst: 50, count: 1, period: '1s' } });
  const group = (cost: number) => [{ limit: 'Group', id, cost }];
  const decision = limiter.spendSync(group(8));
  for (const cost of [20, 3, 0]) {
    const [settlement] = await limiter.settle(decision, { Group: cost });
    expect(settlement).toMatchObject({ outcome: 'settled', spent: cost });
  }
  expect(limiter.checkSync([{ limit: 'Pool', id: 'everyone', cost: 0 }]).remaining).toBe(50);
});

describe('when the store can’t answer', () => {
  const unsteady = (kind: string, onFailure: 'local' | 'open' | 'closed' = 'closed') => {
    const time = new FakeTime();
    const inner = memoryStore({ time });
    let isDown = false;
    const store: Store = {
      guard: storeGuard,
      run: async (operation) => {
        if (isDown && operation.kind === kind) throw new Error('connection lost');
        return inner.run(operation);
      },
      close: () => inner.close(),
    };
    const events: LimiterEvent[] = [];
    const limiter = createLimiter({
      limits: limitsOf({ Tokens: LIMITS.Tokens }),
      store,
      time,
      log: false,
      failure: { onFailure },
      onEvent: (event) => void events.push(event),
    });
    return { limiter, time, events, setDown: (value: boolean) => (isDown = value) };
  };

  test('a charge that was lost is told, and taken when it is repeated', async () => {
    const { limiter, time, events, setDown } = unsteady('spend');
    const decision = await limiter.spend([tokens()]);
    setDown(true);
    expect(await limiter.settle(decision, { Tokens: 60 })).toEqual([{ limit: 'Tokens', spent: 40, outcome: 'lost' }]);
    expect(events.map(({ type }) => type)).toContain('charge-lost');
    setDown(false);
    await time.pass(1000);
    expect(await limiter.settle(decision, { Tokens: 60 })).toMatchObject([{ spent: 60, outcome: 'settled' }]);
  });

  test('a refund that was lost is told', async () => {
    const { limiter, events, setDown } = unsteady('refund');
    const decision = await limiter.spend([tokens()]);
    setDown(true);
    expect(await limiter.settle(decision, { Tokens: 10 })).toEqual([{ limit: 'Tokens', spent: 40, outcome: 'lost' }]);
    expect(events.map(({ type }) => type)).toContain('refund-lost');
  });

  test.each(['local', 'open', 'closed'] as const)('a decision by the policy %s is not settled', async (policy) => {
    const { limiter, setDown } = unsteady('spend', policy);
    setDown(true);
    const decision = await limiter.spend([tokens()]);
    expect(await limiter.settle(decision, { Tokens: 10 })).toEqual([
      { limit: 'Tokens', spent: 0, outcome: 'not-taken' },
    ]);
  });
});

test('a charge that arrives after the end of the period, by the clock of the store, is given back', async () => {
  const time = new FakeTime();
  const inner = memoryStore({ time });
  const store: Store = {
    run: async (operation) => inner.run(operation),
    guard: storeGuard,
    traits: { periods: true },
    close: () => undefined,
  };
  const limiter = createLimiter({ limits: limitsOf({ Month: LIMITS.Month }), store, time: new FakeTime(), log: false });
  const decision = await limiter.spend([{ limit: 'Month', id, cost: 10 }]);
  time.advance(32 * 86_400_000);
  for (const cost of [30, 5]) {
    expect(await limiter.settle(decision, { Month: cost })).toEqual([
      { limit: 'Month', spent: 10, outcome: 'period-ended' },
    ]);
  }
  expect((await limiter.check([{ limit: 'Month', id, cost: 0 }])).remaining).toBe(1000);
});

test('what can’t be settled is an error that tells why', async () => {
  const { limiter } = holding({ Tokens: LIMITS.Tokens, InFlight: LIMITS.InFlight });
  const decision = limiter.spendSync([tokens(), { limit: 'InFlight', id }], { hold: true });
  const twice = limiter.spendSync([tokens(1), tokens(1, { id: 'b' })]);
  const other = holding({ Tokens: LIMITS.Tokens }).limiter.spendSync([tokens()]);
  const codeOf = async (given: unknown, costs: unknown) =>
    (await rejected(() => limiter.settle(given as Decision, costs as never))).code;
  expect(await codeOf(other, { Tokens: 1 })).toBe('ERR_FOREIGN_DECISION');
  expect(await codeOf({}, { Tokens: 1 })).toBe('ERR_OPTION');
  expect(await codeOf(decision, 5)).toBe('ERR_OPTION');
  expect(await codeOf(decision, { Token: 1 })).toBe('ERR_UNKNOWN_LIMIT');
  expect(await codeOf(decision, { InFlight: 1 })).toBe('ERR_OPTION');
  expect(await codeOf(twice, { Tokens: 1 })).toBe('ERR_OPTION');
  for (const cost of [-1, 0.5, NaN, '7', undefined, 2 ** 53]) {
    expect(await codeOf(decision, { Tokens: cost })).toBe('ERR_COST');
  }
  expect(limiter.checkSync([tokens(0)]).remaining).toBe(59);
  await limiter.close();
  expect(await codeOf(decision, { Tokens: 1 })).toBe('ERR_CLOSED');
});
