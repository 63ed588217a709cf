import { describe, expect, test } from 'vitest';
import { everyone, memoryStore, type FailurePolicy } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { fill, holdingRemotely, slot } from './support/holding.ts';
import { RemoteStore } from './support/remote-store.ts';

const IN_FLIGHT = { InFlight: { concurrency: 8, expiry: '6s' } };
const down = new Error('connect ECONNREFUSED');

function started(
  onFailure: FailurePolicy,
  { gateways = 1, limits = IN_FLIGHT }: { gateways?: number; limits?: Readonly<Record<string, object>> } = {},
) {
  return holdingRemotely(limits, { failure: { onFailure, gateways } });
}

describe('local', () => {
  test.each([
    [1, 8],
    [3, 2],
    [8, 1],
    [100, 1],
  ])('with %i gateways each process lets %i of 8 through', async (gateways, most) => {
    const { hold, store } = started('local', { gateways });
    store.manner = down;
    const all = await fill(() => hold(slot()));
    expect(all).toHaveLength(most);
    expect(all[0]).toMatchObject({ failure: { policy: 'local' }, results: [{ burst: most, remaining: most - 1 }] });
    expect(await fill(() => hold(slot({ id: 'b' })))).toHaveLength(most);
    await all.at(0)?.release();
    expect(await fill(() => hold(slot()))).toHaveLength(1);
  });

  test('slots that are held since before the outage count', async () => {
    const { hold, store } = started('local', { gateways: 2 });
    const before = [await hold(slot()), await hold(slot({ cost: 2 }))];
    store.manner = down;
    expect(await fill(() => hold(slot()))).toHaveLength(1);
    await before.at(1)?.release();
    expect(await fill(() => hold(slot()))).toHaveLength(2);
  });

  test.each(['fails', 'hangs'])(
    'of requests that are pending at once when the store %s, the first ones pass',
    async (how) => {
      const { hold, store, time } = started('local', { gateways: 2 });
      await hold(slot());
      store.manner = how === 'hangs' ? 'hangs' : down;
      const pending = Array.from({ length: 6 }, () => hold(slot()));
      await time.pass(50);
      expect((await Promise.all(pending)).map(({ allowed }) => allowed)).toEqual([
        true,
        true,
        true,
        false,
        false,
        false,
      ]);
    },
  );

  test('a pending request counts for `check`, and for later ones until it is denied', async () => {
    const { hold, limiter, store, time } = started('local', {
      gateways: 8,
      limits: { ...IN_FLIGHT, Rate: { count: 1, period: '1h' } },
    });
    store.manner = 'hangs';
    const pending = hold(slot());
    const looks = limiter.check([slot()]);
    await time.pass(50);
    expect((await pending).allowed).toBe(true);
    expect(await looks).toMatchObject({ allowed: false, remaining: 0 });
  });

  test('`check` sees the slots that are held, and those of an unused id', async () => {
    const { hold, limiter, store } = started('local', { gateways: 4 });
    store.manner = down;
    await hold(slot());
    expect(await limiter.check([slot(), slot({ id: 'b' })])).toMatchObject({
      results: [{ remaining: 1 }, { remaining: 2 }],
    });
  });

  test('a share counts of the part of this process, at least one', async () => {
    const { hold, store } = started('local', { gateways: 2 });
    store.manner = down;
    expect(await fill(() => hold(slot({ share: 0.5 })))).toHaveLength(2);
    expect(await fill(() => hold(slot({ share: 0.125, id: 'b' })))).toHaveLength(1);
  });

  test('a cost above the part of this process takes all of it, and stays as large as it is', async () => {
    const { hold, store, time, inStore } = started('local', {
      gateways: 4,
    });
    store.manner = down;
    const large = await hold(slot({ cost: 5 }));
    expect(large).toMatchObject({ allowed: true, results: [{ spent: 2, burst: 2 }] });
    expect(await fill(() => hold(slot()))).toHaveLength(0);
    store.manner = 'answers';
    await time.pass(2500);
    expect(inStore()).toBe(5);
    await large.release();
    expect(inStore()).toBe(0);
  });

  test('slots and tokens of all kinds are taken together, or neither', async () => {
    const limits = {
      ...IN_FLIGHT,
      Rate: { count: 3, period: '1h' },
      Quota: { count: 100, per: 'month' },
      Own: { count: 9, period: '1h', borrow: { from: 'Pool', ceiling: { count: 9, period: '1h' } } },
      Pool: { key: everyone(), count: 99, period: '1h' },
    };
    const { hold, limiter, store } = started('local', { limits });
    store.manner = down;
    const batch = [slot({ limit: 'Quota' }), slot(), slot({ limit: 'Rate' })];
    expect(await hold(...batch, slot({ limit: 'Own' }))).toMatchObject({
      allowed: true,
      results: [{ remaining: 99 }, {}, {}, { remaining: 8 }],
    });
    expect(await hold(...batch)).toMatchObject({
      allowed: true,
      results: [{ remaining: 98 }, { remaining: 6 }, { remaining: 1 }],
    });
    await hold(...batch);
    expect(await hold(...batch)).toMatchObject({
      outcome: 'denied',
      limit: 'Rate',
      results: [{ remaining: 97 }, { remaining: 5 }, {}],
    });
    await fill(() => hold(slot()));
    expect(await hold(slot({ limit: 'Quota' }), slot())).toMatchObject({ outcome: 'denied', limit: 'InFlight' });
    expect(await limiter.check([slot({ limit: 'Quota' })])).toMatchObject({ remaining: 97 });
  });

  test('a late answer of the store leaves nothing behind but what is held', async () => {
    const { hold, store, time, inStore } = started('local', { gateways: 8 });
    store.manner = 'slow';
    const pending = [hold(slot()), hold(slot())];
    await time.pass(50);
    expect((await Promise.all(pending)).map(({ allowed }) => allowed)).toEqual([true, false]);
    store.manner = 'answers';
    await store.answerSlow();
    expect(inStore()).toBe(2);
    // That of the denied request is not renewed.
    await time.pass(8000);
    expect(inStore()).toBe(1);
    await (await pending.at(0))?.release();
    expect(inStore()).toBe(0);
  });
});

describe('open', () => {
  test('lets everything through, and holds nothing', async () => {
    const { hold, store, time, inStore } = started('open');
    store.manner = down;
    const all = [];
    for (let i = 0; i < 20; i++) all.push(await hold(slot()));
    expect(all.every(({ allowed, results }) => allowed && results.length === 0)).toBe(true);
    store.manner = 'answers';
    await time.pass(60_000);
    expect(inStore()).toBe(0);
    for (const held of all) await held.release();
    expect(await fill(() => hold(slot()))).toHaveLength(8);
  });
});

describe('closed', () => {
  test('makes the decision unavailable, and holds nothing', async () => {
    const { hold, store, time, inStore } = started('closed', {
      limits: { ...IN_FLIGHT, Other: { concurrency: 1, onFailure: 'local' } },
    });
    store.manner = down;
    expect(await hold(slot({ limit: 'Other' }), slot())).toMatchObject({ outcome: 'unavailable', limit: 'InFlight' });
    expect((await hold(slot({ limit: 'Other' }))).allowed).toBe(true);
    store.manner = 'answers';
    await time.pass(5000);
    expect(inStore()).toBe(0);
  });
});

describe('when the store is back', () => {
  test('one renewal brings all slots that are held into it, and releases free them', async () => {
    const { hold, store, time, inStore } = started('local');
    const before = [await hold(slot()), await hold(slot())];
    store.manner = down;
    await time.pass(10_000);
    const during = [await hold(slot({ cost: 3 }))];
    await before.pop()!.release();
    expect(inStore()).toBe(0);
    store.manner = 'answers';
    await time.pass(2100);
    expect(inStore()).toBe(4);
    for (const held of [...before, ...during]) await held.release();
    expect(inStore()).toBe(0);
  });

  test('slots of several processes may be more than the limit, and nobody gets another until they are fewer', async () => {
    const time = new FakeTime(1000);
    const memory = memoryStore({ time });
    const process = () => holdingRemotely(IN_FLIGHT, {}, { time, store: new RemoteStore(time, memory) });
    const [one, other] = [process(), process()];
    const kept = await fill(() => one.hold(slot()));
    one.store.manner = down;
    await time.pass(10_000);
    const since = await fill(() => other.hold(slot()));
    expect([kept.length, since.length]).toEqual([8, 8]);
    one.store.manner = 'answers';
    await time.pass(3000);
    expect(one.inStore()).toBe(16);
    for (let i = 0; i < 8; i++) {
      expect((await other.hold(slot())).allowed).toBe(false);
      await kept.pop()!.release();
    }
    expect((await other.hold(slot())).allowed).toBe(false);
    await since.at(0)?.release();
    expect((await one.hold(slot())).allowed).toBe(true);
  });

  test('a release that fails frees the slot after its expiry', async () => {
    const { hold, store, time, inStore } = started('local');
    const held = await hold(slot());
    store.manner = down;
    await held.release();
    store.manner = 'answers';
    expect(inStore()).toBe(1);
    await time.pass(6000);
    expect(inStore()).toBe(0);
  });

  test('a release never rejects, and resolves when the store has answered, or at the deadline', async () => {
    const { hold, store, time } = started('local');
    const [slow, hanging, failing] = [await hold(slot()), await hold(slot()), await hold(slot())];
    let ends: string[] = [];
    const watch = (name: string, released: Promise<void>) => void released.then(() => ends.push(name));
    store.manner = 'slow';
    watch('slow', slow.release());
    store.manner = 'hangs';
    watch('hanging', hanging.release());
    store.manner = down;
    await failing.release();
    await time.pass(40);
    expect(ends).toEqual([]);
    await store.answerSlow();
    expect(ends).toEqual(['slow']);
    await time.pass(10);
    expect(ends).toEqual(['slow', 'hanging']);
  });
});
