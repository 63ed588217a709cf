import { accountId, everyone, type Limits, type Limiter } from '@sluice/core';
import { concurrency as concurrencyLimit } from '@sluice/core/concurrency';
import { describe, expect, test } from 'vitest';
import type { Framework, NativeRequest } from '../framework.ts';
import { as, userKey, userOf } from '../limiters.ts';
import { serveSlots } from '../slots.ts';

/** How many requests are in progress at the same time. */
export function slotCases(framework: Framework): void {
  const slots = (concurrency: number, more: object = {}) => concurrencyLimit({ key: userKey, concurrency, ...more });
  const rate = { key: userKey, count: 3, period: '1h' };
  const remaining = async (limiter: Limiter<NativeRequest>, limit: string): Promise<number> =>
    (await limiter.check([{ limit, id: 'ann' }])).remaining;

  describe.each([
    ['at once', false],
    ['later', true],
  ])('with a store that answers %s,', (_when, isLate) => {
    test('at most n requests of a user are in progress, and those above are denied', async () => {
      const { app, seen, open, allReleased } = await serveSlots(framework, { isLate });
      const visits = Array.from({ length: 8 }, () => app.visit('/', as('ann')));
      const other = app.visit('/', as('bob'));
      await expect.poll(() => seen.inProgress).toBe(3);
      const denied = await Promise.race(visits.map(({ answer }) => answer));
      expect(denied.status).toBe(429);
      open();
      const statuses = await Promise.all(visits.map(async ({ answer }) => (await answer).status));
      expect(statuses.toSorted((one, two) => one - two)).toEqual([200, 200, 429, 429, 429, 429, 429, 429]);
      expect((await other.answer).status).toBe(200);
      expect(seen).toMatchObject({ handled: 3, most: 3 });
      await allReleased();
    });

    test('the slot of a response is free for the next request', async () => {
      const { app, seen, open, counts, allReleased } = await serveSlots(framework, {
        isLate,
        limits: { InFlight: slots(1) },
      });
      open();
      for (let i = 0; i < 5; i++) {
        expect((await app.get('/', as('ann'))).status).toBe(200);
        await expect.poll(() => counts.held).toBe(0);
      }
      expect(seen).toMatchObject({ handled: 5, most: 1 });
      expect(counts.taken).toBe(5);
      await allReleased();
    });

    test('when a rate of the same batch denies, no slot is held', async () => {
      const limits = { InFlight: slots(9), Zone: slots(9), Rate: rate };
      const { app, open, counts, allReleased } = await serveSlots(framework, { isLate, limits });
      open();
      expect(await app.statuses(5, '/', as('ann'))).toEqual([200, 200, 200, 429, 429]);
      await allReleased();
      expect(counts.taken).toBe(6);
    });

    test('when the slots deny, no token of a rate in the same batch is taken', async () => {
      const limits = { Rate: rate, InFlight: slots(1) };
      const { app, limiter, begin, open, allReleased } = await serveSlots(framework, { isLate, limits });
      const visit = await begin();
      expect(await app.statuses(4, '/', as('ann'))).toEqual([429, 429, 429, 429]);
      expect(await remaining(limiter, 'Rate')).toBe(2);
      open();
      expect((await visit.answer).status).toBe(200);
      await allReleased();
    });

    test('when one of several limits has no slot, none of the others is held', async () => {
      const limits = { PerUser: slots(5), All: concurrencyLimit({ key: accountId(() => 'all'), concurrency: 1 }) };
      const { app, limiter, begin, open, allReleased } = await serveSlots(framework, { isLate, limits });
      const visit = await begin();
      expect((await app.get('/', as('bob'))).status).toBe(429);
      expect((await limiter.check([{ limit: 'PerUser', id: 'bob' }])).remaining).toBe(5);
      open();
      await visit.answer;
      await allReleased();
    });

    test('slots of one process are counted alike', async () => {
      const limits = { InFlight: slots(2, { scope: 'process' }), Rate: { ...rate, count: 6 } };
      const { app, limiter, begin, open } = await serveSlots(framework, { isLate, limits });
      const visits = [await begin(), await begin()];
      expect(await app.statuses(2, '/', as('ann'))).toEqual([429, 429]);
      expect(await remaining(limiter, 'Rate')).toBe(4);
      visits[0]!.leave();
      await expect.poll(() => remaining(limiter, 'InFlight')).toBeGreaterThan(0);
      const next = await begin();
      open();
      expect([(await visits[1]!.answer).status, (await next.answer).status]).toEqual([200, 200]);
    });

    test('a cost takes as many slots, and a cost of 0 none', async () => {
      const cost = ({ headers }: NativeRequest): number => Number(headers['x-cost']);
      const { app, counts, seen, open, allReleased } = await serveSlots(framework, {
        isLate,
        limits: { InFlight: slots(5) },
        uses: [{ limit: 'InFlight', cost }],
      });
      const visit = (costs: number) => app.visit('/', as('ann', { 'X-Cost': `${costs}` }));
      const visits = [visit(3)];
      await expect.poll(() => counts.held).toBe(3);
      expect((await visit(3).answer).status).toBe(429);
      visits.push(visit(2), visit(0));
      await expect.poll(() => seen.inProgress).toBe(3);
      expect(counts.held).toBe(5);
      expect((await visit(1).answer).status).toBe(429);
      open();
      for (const { answer } of visits) expect((await answer).status).toBe(200);
      await allReleased();
    });

    test('requests with a share leave the other slots to those without', async () => {
      const share = (request: NativeRequest): number => (userOf(request) === 'batch' ? 0.5 : 1);
      const { begin, open, counts, allReleased } = await serveSlots(framework, {
        isLate,
        limits: { All: concurrencyLimit({ key: accountId(() => 'all'), concurrency: 4 }) },
        uses: [{ limit: 'All', share }],
      });
      const visits = [await begin('batch'), await begin('batch'), await begin('batch')];
      expect((await visits.pop()!.answer).status).toBe(429);
      visits.push(await begin('user'), await begin('user'));
      expect((await (await begin('user')).answer).status).toBe(429);
      expect(counts.held).toBe(4);
      open();
      for (const { answer } of visits) expect((await answer).status).toBe(200);
      await allReleased();
    });

    test('shadow counts and releases, and denies nobody', async () => {
      const { begin, decisions, open, allReleased, counts } = await serveSlots(framework, {
        isLate,
        limits: { InFlight: slots(1) },
        options: { shadow: true },
      });
      const visits = [await begin(), await begin()];
      expect(decisions.map(({ outcome }) => outcome)).toEqual(['allowed', 'denied']);
      expect(counts.held).toBe(1);
      open();
      for (const { answer } of visits) expect((await answer).status).toBe(200);
      await allReleased();
    });
  });

  test.each<[what: string, plan: object]>([
    ['that skip names', { options: { skip: () => true } }],
    ['to which the limit does not apply', { limits: { InFlight: slots(1, { key: accountId(() => null) }) } }],
    ['of an unlimited id', { overrides: { InFlight: { ann: 'unlimited' } } }],
    ['at a disabled limit', { limits: { InFlight: slots(1, { disabled: true }) } }],
    ['that only checks', { uses: [{ limit: 'InFlight', mode: 'check-only' }] }],
  ])('a request %s takes no slot', async (_which, plan) => {
    const { app, counts, seen, open } = await serveSlots(framework, { limits: { InFlight: slots(1) }, ...plan });
    const visits = [app.visit('/', as('ann')), app.visit('/', as('ann'))];
    await expect.poll(() => seen.inProgress).toBe(2);
    expect(counts.taken).toBe(0);
    open();
    for (const { answer } of visits) expect((await answer).status).toBe(200);
  });

  test('an override is another number of slots for one user', async () => {
    const { begin, open, allReleased } = await serveSlots(framework, {
      limits: { InFlight: slots(1) },
      overrides: { InFlight: { ann: { concurrency: 2 } } },
    });
    const visits = [await begin('ann'), await begin('ann'), await begin('bob')];
    for (const user of ['ann', 'bob']) expect((await (await begin(user)).answer).status).toBe(429);
    open();
    for (const { answer } of visits) expect((await answer).status).toBe(200);
    await allReleased();
  });

  test('spend-only takes a slot where there is one, and denies nobody', async () => {
    const { begin, counts, open, allReleased } = await serveSlots(framework, {
      limits: { InFlight: slots(1) },
      uses: [{ limit: 'InFlight', mode: 'spend-only' }],
    });
    const visits = [await begin(), await begin()];
    expect(counts.held).toBe(1);
    open();
    for (const { answer } of visits) expect((await answer).status).toBe(200);
    await allReleased();
  });

  test('the only limit of a middleware may be a concurrency limit', async () => {
    const { app, seen, open } = await serveSlots(framework, {
      all: () => [{ limit: concurrencyLimit({ key: userKey, concurrency: 1, scope: 'process' }), log: false }],
    });
    const visit = app.visit('/', as('ann'));
    await expect.poll(() => seen.inProgress).toBe(1);
    expect((await app.get('/', as('ann'))).status).toBe(429);
    open();
    expect((await visit.answer).status).toBe(200);
    await expect.poll(async () => (await app.get('/', as('ann'))).status).toBe(200);
  });

  test('refund gives tokens back and keeps the slots until the response is over', async () => {
    const limits: Limits<NativeRequest> = { InFlight: slots(1), Rate: rate };
    const held: number[] = [];
    const served = await serveSlots(framework, {
      limits,
      async handle({ decision }) {
        await decision!.refund();
        held.push(served.counts.held);
        return 'ok';
      },
    });
    expect(await served.app.statuses(1, '/', as('ann'))).toEqual([200]);
    expect(held).toEqual([1]);
    await served.allReleased();
    expect(await remaining(served.limiter, 'Rate')).toBe(3);
  });

  test('charge leaves slots out, and is an error with the name of their limit', async () => {
    const limits = { InFlight: slots(2), Fleet: concurrencyLimit({ key: everyone(), concurrency: 2 }), Rate: rate };
    const { app, limiter, counts, allReleased } = await serveSlots(framework, {
      limits,
      async handle({ decision }) {
        await decision!.charge(1);
        await decision!.charge(1, 'Rate');
        return decision!.charge(1, 'Fleet').catch(({ code, message }) => `${code} ${message}`) as Promise<string>;
      },
    });
    const { body } = await app.get('/', as('ann'));
    expect(body).toBe(
      'ERR_OPTION `charge` must not be given the limit "Fleet", because it is a concurrency limit. ' +
        'Slots are held and released, and not charged: leave it out.',
    );
    expect(await remaining(limiter, 'Rate')).toBe(0);
    expect(counts.charged).toEqual(['Rate', 'Rate']);
    await allReleased();
  });

  const limiterOf = async () => (await serveSlots(framework, { limits: { InFlight: slots(2), Rate: rate } })).limiter;
  const settle = (): number => 1;

  test.each<[option: string, use: object, message: string]>([
    ['settle', { settle }, '`limits.InFlight.settle` must be left out, because it is a concurrency limit'],
    ['settleAborted', { settle, settleAborted: true }, '`limits.InFlight.settle` must be left out'],
    ['the mode charge', { mode: 'charge' }, '`mode` of limit "InFlight" must be'],
    ['a cost above the slots', { cost: 3 }, '`cost` of limit "InFlight" must be at most'],
  ])('%s is an error when the middleware is made', async (_option, use, message) => {
    const limiter = await limiterOf();
    const make = () => framework.make({ limiter, limits: [{ limit: 'InFlight', ...use }] });
    expect(make).toThrow(expect.objectContaining({ message: expect.stringContaining(message) }));
  });

  test.each<[option: string, use: object, message: string]>([
    ['settles', { settle }, '`limits.Rate.settle` must be left out, because it is a concurrency limit'],
    ['charges', { mode: 'charge' }, '`mode` of limit "Rate" must be'],
  ])('replace rejects slots in place of a rate that a middleware %s', async (_how, use, message) => {
    const limiter = await limiterOf();
    framework.make({ limiter, limits: [{ limit: 'Rate', ...use }] });
    expect(() => limiter.replace({ limits: { InFlight: slots(2), Rate: slots(2) } })).toThrow(message);
    limiter.replace({ limits: { InFlight: slots(2), Rate: { ...slots(2), disabled: true } } });
  });
}
