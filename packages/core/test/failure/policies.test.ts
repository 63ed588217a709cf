import { describe, expect, test } from 'vitest';
import type { MemoryStore } from '../../src/store/memory/memory-store.ts';
import { decided, guarded, passed, transaction } from './support/guarded.ts';
import { throws } from './support/scripted-store.ts';

const down = new Error('down');
const failing = (gateways = 1) => guarded(throws(down), { gateways });

const local = transaction({ limit: 'Local' });
const otherLocal = transaction({ limit: 'OtherLocal' });
const open = transaction({ limit: 'Open', onFailure: 'open' });
const closed = transaction({ limit: 'Closed', onFailure: 'closed' });

describe('closed', () => {
  test('one in a batch makes it unavailable: nothing is decided and nothing is taken', async () => {
    const { guard } = failing();
    expect(await guard.spend([local, closed, open])).toMatchObject({
      outcome: 'unavailable',
      batch: [closed],
      failure: { policy: 'closed', cause: down },
      origin: { owner: guard.owner, store: undefined },
    });
    expect(decided(await guard.check([local])).levelsTicks).toEqual([0]);
  });

  test('applies to checks too', async () => {
    expect(await failing().guard.check([closed])).toMatchObject({ outcome: 'unavailable', batch: [closed] });
  });
});

describe('local', () => {
  test('decides by the same limit in this process', async () => {
    const { guard } = failing();
    const rulings = await Promise.all(Array.from({ length: 12 }, async () => guard.spend([local])));
    expect(rulings.filter(passed)).toHaveLength(10);
    expect(rulings[0]).toMatchObject({ outcome: 'allowed', batch: [local], failure: { policy: 'local', cause: down } });
  });

  test('decides all local limits of a batch together: all or nothing', async () => {
    const { guard } = failing();
    await guard.spend([transaction({ limit: 'OtherLocal', cost: 10 })]);
    expect(passed(await guard.spend([local, otherLocal]))).toBe(false);
    expect(decided(await guard.check([local])).levelsTicks).toEqual([0]);
  });

  test('keeps ids apart', async () => {
    const { guard } = failing();
    await guard.spend([transaction({ id: 'a', cost: 10 })]);
    expect(passed(await guard.spend([transaction({ id: 'a' })]))).toBe(false);
    expect(passed(await guard.spend([transaction({ id: 'b' })]))).toBe(true);
  });

  test('takes nothing for a check', async () => {
    const { guard } = failing();
    for (let i = 0; i < 20; i++) expect(passed(await guard.check([local]))).toBe(true);
  });

  test('lets the rate of the limit pass over time', async () => {
    const { guard, time } = failing();
    await guard.spend([transaction({ cost: 10 })]);
    await time.pass(999);
    expect(passed(await guard.spend([transaction()]))).toBe(false);
    await time.pass(1);
    expect(passed(await guard.spend([transaction()]))).toBe(true);
  });

  test('gives each of the gateways its share of the burst and of the rate', async () => {
    const { guard, time } = failing(4);
    const admitted = async () => {
      let count = 0;
      while (passed(await guard.spend([transaction()]))) count++;
      return count;
    };
    expect(await admitted()).toBe(2);
    await time.pass(3999);
    expect(await admitted()).toBe(0);
    await time.pass(1);
    expect(await admitted()).toBe(1);
  });

  test('reports the numbers by which it decided', async () => {
    const { guard } = failing(4);
    const [transactionDecided] = decided(await guard.spend([transaction({ cost: 9 })])).batch;
    expect(transactionDecided).toMatchObject({ cost: 2, rate: { burst: 2, periodMs: 4000 } });
  });

  test('a cost above the local burst passes when the whole local bucket is there, and empties it', async () => {
    const { guard, time } = failing(4);
    const dear = transaction({ cost: 9 });
    expect(passed(await guard.spend([dear]))).toBe(true);
    await time.pass(7999);
    expect(passed(await guard.spend([dear]))).toBe(false);
    await time.pass(1);
    expect(passed(await guard.spend([dear]))).toBe(true);
  });

  // The bounds that docs/failure-policy.md gives, for 4 gateways and a limit of 10 tokens, one a second.
  test.each([
    { cost: 1, atOnce: 8, later: 64 },
    { cost: 2, atOnce: 8, later: 64 },
    { cost: 3, atOnce: 12, later: 96 },
    { cost: 10, atOnce: 40, later: 320 },
  ])('requests of cost $cost stay within the bound over all gateways', async ({ cost, atOnce, later }) => {
    const gateways = Array.from({ length: 4 }, () => failing(4));
    const localBurst = 2;
    const admitted = async () => {
      let tokens = 0;
      for (const { guard } of gateways) while (passed(await guard.spend([transaction({ cost })]))) tokens += cost;
      return tokens;
    };
    const bound = (seconds: number) =>
      cost > localBurst ? 4 * cost + (cost / localBurst) * seconds : Math.max(10, 4) + seconds;
    const first = await admitted();
    let passedLater = 0;
    for (let second = 1; second <= 64; second++) {
      for (const { time } of gateways) time.step(1000);
      passedLater += await admitted();
      expect(first + passedLater).toBeLessThanOrEqual(bound(second));
    }
    expect([first, passedLater]).toEqual([atOnce, later]);
  });

  test('keeps at most 100,000 buckets', async () => {
    const { guard } = failing();
    const store = decided(await guard.spend([local])).origin.store as MemoryStore;
    expect(store.stats().maxKeys).toBe(100_000);
  });

  test('60,000 fresh ids of each of two limits of 2 a day evict none of 200 exhausted buckets', async () => {
    const { guard, events } = failing();
    const logins = (n: number, cost: number) =>
      transaction({ limit: 'Logins', id: `${n}`, burst: 5, count: 5, period: '15m', cost });
    for (let n = 0; n < 200; n++) await guard.spend([logins(n, 5)]);
    const daily = { burst: 2, count: 2, period: '1d' };
    for (let n = 0; n < 60_000; n++) {
      await guard.spend([transaction({ limit: 'Mails', id: `${n}`, ...daily })]);
      await guard.spend([transaction({ limit: 'Uploads', id: `${n}`, ...daily })]);
    }
    const checked = await Promise.all(Array.from({ length: 200 }, async (_, n) => guard.check([logins(n, 1)])));
    expect(checked.filter(passed)).toEqual([]);
    const store = decided(await guard.check([logins(0, 1)])).origin.store as MemoryStore;
    expect(store.stats()).toMatchObject({ size: 100_000, evicted: 20_200 });
    expect(events.filter(({ type }) => /^(warning|buckets-evicted)$/.test(type)).map(({ message }) => message)).toEqual(
      [
        expect.stringMatching(/^The local store of onFailure: 'local' is nearly full: 90001 of at most 100000 buckets/),
        expect.stringMatching(
          /is full: .* it evicted 1 bucket with spent tokens: .* use onFailure: 'closed' for limits that must hold/,
        ),
      ],
    );
  });

  test('decides in one store for as long as the guard lives', async () => {
    const { guard } = failing();
    const [one, other] = [decided(await guard.spend([local])), decided(await guard.check([otherLocal]))];
    expect(one.origin.store).toBe(other.origin.store);
  });
});

describe('open', () => {
  test('drops out, and the local ones decide', async () => {
    const { guard } = failing();
    const batchAnswer = await guard.spend([open, local, open]);
    expect(batchAnswer).toMatchObject({ batch: [local], failure: { policy: 'local' } });
    expect(batchAnswer.levelsTicks).toEqual([0]);
  });

  test('alone lets everything through, because no limit is left', async () => {
    const { guard, store } = failing();
    for (let i = 0; i < 20; i++) {
      expect(await guard.spend([open])).toMatchObject({
        outcome: 'allowed',
        batch: [],
        levelsTicks: [],
        origin: { owner: guard.owner, store, failure: { policy: 'open', cause: down }, open: [open] },
      });
    }
  });
});
