import type { LimiterEvent } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { expect, test } from 'vitest';
import type { Framework, Handler, Options } from '../framework.ts';
import { realDelay } from '../../../real-delay.ts';
import { gate } from '../gate.ts';
import { as, heldStore, stillLimiter, timed, userKey } from '../limiters.ts';
import { serveSlots, type SlotApp } from '../slots.ts';
import { sized } from '../../../sized.ts';
import { start } from '../start.ts';

/** Handlers whose clients leave: those that have not begun do not begin, and those that have may keep their slots. */
export function slotHandlerCases(framework: Framework): void {
  const limits = { InFlight: concurrency({ key: userKey, concurrency: 2 }) };
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  };

  test.each(['response', 'handler'])(
    'a client that left before its decision is not let through, and holds no slot until the %s ends',
    async (slotsUntil) => {
      const { store, arrived, release } = heldStore();
      const limiter = stillLimiter({ limits, store, failure: { deadlineMs: 5000 } });
      const seen = { over: 0, handled: 0, allowed: 0 };
      const app = await start(framework, {
        before: ({ outgoing }) => void outgoing.once('close', () => seen.over++),
        limits: [{ limiter, slotsUntil, onDecision: ({ allowed }) => (seen.allowed += Number(allowed)) }] as Options[],
        routes: { '/': { handle: () => `${++seen.handled}` } },
      });
      const visits = [app.visit('/', as('ann')), app.visit('/', as('ann'))];
      await expect.poll(arrived).toBe(2);
      for (const visit of visits) visit.leave();
      await expect.poll(() => seen.over).toBe(2);
      release();
      await expect.poll(() => seen.allowed).toBe(2);
      await expect.poll(async () => (await limiter.check([{ limit: 'InFlight', id: 'ann' }])).remaining).toBe(2);
      await turns();
      expect({ handled: seen.handled, errors: app.errors }).toEqual({ handled: 0, errors: [] });
    },
  );

  test('a client that left before a limit in memory is asked is counted, and is not let through', async () => {
    const doors = gate();
    const limiter = stillLimiter({ limits: { PerUser: { key: userKey, count: 5, period: '1h' } }, ...timed() });
    const seen = { over: 0, handled: 0 };
    const app = await start(framework, {
      before({ outgoing }) {
        outgoing.once('close', () => seen.over++);
        return doors.pass();
      },
      limits: [{ limiter }],
      routes: { '/': { handle: () => `${++seen.handled}` } },
    });
    const visit = app.visit('/', as('ann'));
    await expect.poll(() => doors.state.waiting).toBe(1);
    visit.leave();
    await expect.poll(() => seen.over).toBe(1);
    doors.open();
    await expect.poll(async () => (await limiter.check([{ limit: 'PerUser', id: 'ann' }])).remaining).toBe(4);
    await turns();
    expect(seen.handled).toBe(0);
  });

  test('in shadow mode, a client that left before its decision is let through', async () => {
    const { store, arrived, release } = heldStore();
    const limiter = stillLimiter({ limits, store, failure: { deadlineMs: 5000 } });
    const seen = { over: 0, handled: 0 };
    const app = await start(framework, {
      before: ({ outgoing }) => void outgoing.once('close', () => seen.over++),
      limits: [{ limiter, shadow: true }],
      routes: { '/': { handle: () => `${++seen.handled}` } },
    });
    const visit = app.visit('/', as('ann'));
    await expect.poll(arrived).toBe(1);
    visit.leave();
    await expect.poll(() => seen.over).toBe(1);
    release();
    await expect.poll(() => seen.handled).toBe(1);
  });

  /** Lets clients leave while their handlers work. */
  async function left(served: SlotApp, times = 1): Promise<void> {
    const visits = [];
    for (let i = 0; i < times; i++) visits.push(await served.begin());
    await expect.poll(() => served.seen.inProgress).toBe(times);
    for (const visit of visits) visit.leave();
    await Promise.all(visits.map((visit) => visit.left));
    await turns();
  }

  test.each([false, true])(
    'until the handler: a client that leaves frees its slot when the handler has ended (late store: %s)',
    async (isLate) => {
      const served = await serveSlots(framework, { isLate, limits, options: { slotsUntil: 'handler' } });
      await left(served, 2);
      expect(served.counts.held).toBe(2);
      expect((await served.app.get('/', as('ann'))).status).toBe(429);
      expect(served.seen.most).toBe(2);
      served.open();
      await served.allReleased();
      expect((await served.app.get('/', as('ann'))).status).toBe(200);
      await served.allReleased();
    },
  );

  test('until the response: a client that leaves frees its slot while its handler works', async () => {
    const served = await serveSlots(framework, { limits, options: { slotsUntil: 'response' } });
    await left(served);
    await served.allReleased();
    expect(served.seen.inProgress).toBe(1);
  });

  test('until the handler: however many clients leave at once, no more handlers work than there are slots', async () => {
    const served = await serveSlots(framework, { isLate: true, limits, options: { slotsUntil: 'handler' } });
    for (let round = 0; round < sized(4, 10); round++) {
      const visits = Array.from({ length: 10 }, () => served.app.visit('/', as('ann')));
      // Some leave before their decision, and some while their handlers work.
      await realDelay(round % 4);
      for (const visit of visits) visit.leave();
    }
    await expect.poll(() => served.seen.inProgress - served.counts.held).toBe(0);
    expect(served.seen.most).toBeLessThanOrEqual(2);
    served.open();
    await expect.poll(() => served.seen.inProgress).toBe(0);
    await expect.poll(() => served.counts.taken - served.counts.released).toBe(0);
  });

  test('until the handler: a handler that throws frees its slot', async () => {
    const handle: Handler = () => Promise.reject(new Error('boom'));
    const served = await serveSlots(framework, { limits, handle, options: { slotsUntil: 'handler' } });
    expect((await served.app.get('/', as('ann'))).status).toBe(500);
    await served.allReleased();
  });

  test('until the handler: a middleware that denies afterwards frees the slot', async () => {
    const served = await serveSlots(framework, {
      limits: { ...limits, PerUser: { key: userKey, count: 1, period: '1h' } },
      all: (limiter) => [
        { limiter, limits: ['InFlight'], slotsUntil: 'handler' },
        { limiter, limits: ['InFlight'], slotsUntil: 'handler' },
        { limiter, limits: ['PerUser'] },
      ],
    });
    served.open();
    expect(await served.app.statuses(3, '/', as('ann'))).toEqual([200, 429, 429]);
    await served.allReleased();
    expect(served.counts.taken).toBe(6);
  });

  test('until the handler: a client that leaves while its request waits for its turn frees the slot', async () => {
    const served = await serveSlots(framework, {
      limits: { ...limits, PerUser: { key: userKey, count: 1, period: '1m', maxWait: '5m' } },
      options: { slotsUntil: 'handler' },
    });
    const first = await served.begin();
    const second = await served.begin();
    expect(served.counts.held).toBe(2);
    second.leave();
    await expect.poll(() => served.counts.held).toBe(1);
    served.open();
    await first.answer;
    await served.allReleased();
  });

  test('until the handler: closing the limiter frees the slots of requests that wait for their turn', async () => {
    const served = await serveSlots(framework, {
      limits: { ...limits, PerUser: { key: userKey, count: 1, period: '1m', maxWait: '5m' } },
      options: { slotsUntil: 'handler' },
    });
    await served.begin();
    const second = await served.begin();
    void served.limiter.close();
    expect((await second.answer).status).toBe(503);
    expect(served.counts.held).toBe(0);
    served.open();
  });

  test.each([
    ['resolves', (end: (fails: boolean) => void) => end(false)],
    ['rejects', (end: (fails: boolean) => void) => end(true)],
  ])('until a promise of a function: the slot of a client that left is free when it %s', async (_how, settle) => {
    let end = (_fails: boolean): void => undefined;
    const work = new Promise<void>((resolve, reject) => {
      end = (fails) => (fails ? reject(new Error('boom')) : resolve());
    });
    const served = await serveSlots(framework, { limits, options: { slotsUntil: () => work } });
    await left(served);
    expect(served.counts.held).toBe(1);
    settle(end);
    await served.allReleased();
  });

  test.each([
    ['gives no promise', () => undefined, 0],
    ['throws', () => { throw new Error('boom'); }, 1], // prettier-ignore
  ])('until a function that %s: the slot is free at the end of the response', async (_what, slotsUntil, failures) => {
    const events: LimiterEvent[] = [];
    const limiter = stillLimiter({ limits, onEvent: (event) => events.push(event) });
    const app = await start(framework, { limits: [{ limiter, slotsUntil }] as Options[] });
    expect(await app.statuses(4, '/', as('ann'))).toEqual([200, 200, 200, 200]);
    await expect.poll(() => events.length).toBe(failures * 4);
    for (const event of events) expect(event).toMatchObject({ type: 'callback-failed', callback: 'slotsUntil' });
  });
}
