import type { Decided } from '../../../src/decision/decided.ts';
import { describe, expect, test } from 'vitest';
import { transactionOf } from '../../../src/decision/batch.ts';
import { changed, type Transaction } from '../../../src/decision/transaction.ts';
import { Lender } from '../../../src/kinds/borrow/lender.ts';
import { usualUse } from '../../../src/limits/use.ts';
import type { LimitSet } from '../../../src/definitions/limit-set.ts';
import { defineLimits } from '../../../src/definitions/define-limits.ts';
import { withPools } from '../../../src/kinds/borrow/pools.ts';
import { started } from './borrowing.ts';

describe('a fair pool', () => {
  const fair = { borrow: { fair: true, ceiling: { burst: 100, count: 100, period: '1s' } } };

  test('lends less of its bucket to a client that has just borrowed than to another', () => {
    const { spend } = started({ ...fair, burst: 1 });
    const lent = (id: string) =>
      Array.from({ length: 8 }, () => spend(id)).filter(({ results }) => results[0]?.borrowed).length;
    const hungry = lent('a');
    expect(hungry).toBeLessThan(5);
    expect(hungry).toBeGreaterThan(1);
    // b has the whole rest of the pool at its first request.
    expect(lent('b')).toBeGreaterThan(0);
  });

  test('remembers who has borrowed while many others borrow, but not without bound', () => {
    const { limits, spend, time } = started({ burst: 1, borrow: { ...fair.borrow, weight: 0.01 } });
    spend();
    const [lent] = spend().results;
    const lender = new Lender(time, () => undefined);
    const limit = withPools(defineLimits(limits, 'local'), () => undefined).get('PerUser')!;
    const set = { rateFor: () => limit.rate } as unknown as LimitSet;
    const transaction = transactionOf(set, usualUse(limit), 'a', undefined) as Transaction;
    const lendTo = (id: string): void =>
      lender.noteLent({ results: [{ ...lent, id }] } as unknown as Decided, [changed(transaction, { id })]);
    const flood = (): void => {
      for (let i = 0; i < 50_000; i++) lendTo(`x${i}`);
    };
    lendTo('a');
    flood();
    // Its own tokens only.
    expect(lender.alternativesOf([transaction]).length).toBe(1);
    flood();
    flood();
    expect(lender.alternativesOf([transaction]).length).toBe(2);
  });

  test('forgets what was borrowed as it decays', () => {
    const { spend, time } = started({ ...fair, burst: 1 });
    const lend = () => Array.from({ length: 8 }, () => spend('a')).filter(({ results }) => results[0]?.borrowed).length;
    const first = lend();
    time.advance(60_000);
    // Another client borrows, so that the first is forgotten.
    for (let i = 0; i < 3; i++) spend('b');
    time.advance(60_000);
    expect(lend()).toBe(first);
  });

  test('lends more to a client with a larger weight', () => {
    const weight = (id: string) => (id === 'big' ? 10 : 0.1);
    const lentTo = (id: string) => {
      const { spend } = started({ borrow: { ...fair.borrow, weight }, burst: 1 });
      return Array.from({ length: 8 }, () => spend(id)).filter(({ results }) => results[0]?.borrowed).length;
    };
    expect(lentTo('big')).toBe(4);
    expect(lentTo('small')).toBe(1);
  });

  test('prefers the weight of an override', () => {
    const overrides = { PerUser: { a: { burst: 1, count: 1, period: '1s', borrow: { weight: 0.1 } } } } as const;
    const { spend } = started({ borrow: { ...fair.borrow, weight: 10 }, burst: 1 }, { overrides });
    const lent = Array.from({ length: 8 }, () => spend('a')).filter(({ results }) => results[0]?.borrowed);
    expect(lent.length).toBe(1);
  });

  test('is denied for the own wait when a client has borrowed too much', () => {
    const { spend } = started({ borrow: { ...fair.borrow, weight: 0.01 }, burst: 1 });
    spend();
    spend();
    expect(spend()).toMatchObject({ outcome: 'denied', retryAfterMs: 1000 });
  });

  test('is denied for the own wait when the function of its weight takes the rest of the pool', () => {
    const weight = () => (void made.limiter.charge(rest), 0.5);
    const made = started({ borrow: { ...fair.borrow, weight }, burst: 1, count: 4 });
    const rest = [{ limit: 'Pool' as const, id: 'everyone', cost: 6 }];
    expect([made.spend(), made.spend()]).toMatchObject([{ allowed: true }, { results: [{ borrowed: true }] }]);
    expect(made.pool()).toBeGreaterThan(0);
    expect(made.spend()).toMatchObject({ outcome: 'denied', retryAfterMs: 250, results: [{ spent: 0 }] });
    expect(made.pool()).toBe(0);
  });

  test('asks for the weight of a client only when its own tokens do not suffice', () => {
    const asked: string[] = [];
    const weight = (id: string): number => asked.push(id);
    const { spend, time } = started({ borrow: { ...fair.borrow, weight }, burst: 1 });
    for (let i = 0; i < 2; i++) spend();
    time.advance(1000);
    expect(spend().results[0]).toMatchObject({ allowed: true, borrowed: false });
    expect(asked).toEqual([]);
    expect(spend().results[0]).toMatchObject({ borrowed: true });
    expect(asked).toEqual(['a']);
  });

  test.each([
    [() => 0, 'must be a number above 0'],
    // It would be an unhandled rejection.
    [() => Promise.reject(new Error('no database')) as unknown as number, 'must be a number above 0'],
    [
      () => {
        throw new Error('no plan');
      },
      'no plan',
    ],
  ])('uses the weight 1, with an event, when the weight function fails', (weight, reason) => {
    const { spend, events } = started({ borrow: { ...fair.borrow, weight }, burst: 1 });
    for (let i = 0; i < 3; i++) expect(spend().allowed).toBe(true);
    expect(events).toMatchObject([
      { type: 'callback-failed', callback: 'weight', message: expect.stringContaining(reason) },
    ]);
  });
});
