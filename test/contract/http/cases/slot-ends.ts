import { accountId } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { describe, expect, test } from 'vitest';
import type { Writable } from 'node:stream';
import { collectGarbage } from '../../../collect-garbage.ts';
import type { Framework, Handler, NativeRequest } from '../framework.ts';
import { gate } from '../gate.ts';
import { as, userKey } from '../limiters.ts';
import { serveSlots } from '../slots.ts';

/** When the slots of a request are released: once, when its response is over, whatever happened to it. */
export function slotEndCases(framework: Framework): void {
  const InFlight = concurrency({ key: userKey, concurrency: 1 });
  const boom = (): never => {
    throw Object.assign(new Error('boom'), { status: 418, statusCode: 418 });
  };

  test.each([false, true])(
    'a client that leaves before its slot is taken does not reach its handler (shadow: %s)',
    async (shadow) => {
      const doors = gate();
      const key = accountId(async () => (await doors.pass(), 'ann'));
      const over = { count: 0 };
      const { app, decisions, seen, counts, allReleased } = await serveSlots(framework, {
        limits: { InFlight: concurrency({ key, concurrency: 5 }) },
        options: { shadow },
        handle: () => 'ok',
        before: ({ outgoing }) => void outgoing.once('close', () => over.count++),
      });
      const visits = Array.from({ length: 3 }, () => app.visit('/', as('ann')));
      await expect.poll(() => doors.state.waiting).toBe(3);
      for (const visit of visits) visit.leave();
      await expect.poll(() => over.count).toBe(3);
      doors.open();
      await expect.poll(() => decisions.length).toBe(3);
      await allReleased();
      // A shadow changes nothing.
      await expect.poll(() => seen.handled).toBe(shadow ? 3 : 0);
      expect({ taken: counts.taken, errors: app.errors.length }).toEqual({ taken: 3, errors: 0 });
    },
  );

  test('a request in progress keeps its slots when garbage is collected', async () => {
    let begun = 0;
    const { app, time, allReleased } = await serveSlots(framework, {
      options: { onDecision: undefined },
      handle: () => (begun++, new Promise<never>(() => undefined)),
    });
    const visits = Array.from({ length: 2 }, () => app.visit('/', as('ann')));
    await expect.poll(() => begun).toBe(2);
    await collectGarbage(() => false, 3);
    for (let i = 0; i < 30; i++) time.advance(1000);
    expect((await app.get('/', as('ann'))).status).toBe(429);
    for (const visit of visits) visit.leave();
    await allReleased();
  });

  describe.each([
    ['at once', false],
    ['later', true],
  ])('with a store that answers %s, slots are released', (_when, isLate) => {
    test.each<[when: string, handle: Handler, status: number]>([
      ['when the handler has answered', () => 'ok', 200],
      ['when the handler throws', boom, 418],
      ['when the handler rejects', async () => boom(), 418],
      ['when the handler throws later', async () => (await new Promise((resolve) => setImmediate(resolve)), boom()), 418], // prettier-ignore
    ])('%s', async (_what, handle, status) => {
      const { app, counts, allReleased } = await serveSlots(framework, { isLate, handle });
      expect(await app.statuses(3, '/', as('ann'))).toEqual([status, status, status]);
      await allReleased();
      expect(counts.taken).toBe(3);
    });

    test('when the client leaves while the handler works', async () => {
      const { begin, seen, counts, open, allReleased } = await serveSlots(framework, { isLate, limits: { InFlight } });
      for (let i = 1; i <= 3; i++) {
        const visit = await begin();
        await expect.poll(() => seen.inProgress).toBe(i);
        expect(counts.held).toBe(1);
        visit.leave();
        await expect.poll(() => counts.held).toBe(0);
      }
      open();
      await expect.poll(() => seen.inProgress).toBe(0);
      await allReleased();
      expect(counts.taken).toBe(3);
    });

    test('when the client of a handler that never answers leaves', async () => {
      const { begin, counts, allReleased } = await serveSlots(framework, { isLate, handle: () => undefined });
      const visit = await begin();
      expect(counts.held).toBe(1);
      visit.leave();
      await allReleased();
    });

    test('when a later middleware denies', async () => {
      const Rate = { key: userKey, count: 1, period: '1h' };
      const { app, counts, open, allReleased } = await serveSlots(framework, {
        isLate,
        limits: { InFlight, Rate },
        all: (limiter) => [
          { limiter, limits: ['InFlight'] },
          { limiter, limits: ['Rate'] },
        ],
      });
      open();
      for (const status of [200, 429, 429]) {
        expect((await app.get('/', as('ann'))).status).toBe(status);
        await expect.poll(() => counts.held).toBe(0);
      }
      await allReleased();
      expect(counts.taken).toBe(3);
    });

    test.each([
      ['of the same middleware', [['InFlight', 'Bad']]],
      ['of a later middleware', [['InFlight'], ['Bad']]],
      ['of the same middleware, in another order', [['Bad', 'InFlight']]],
    ])('when the key function of another limit %s throws', async (_which, middlewares) => {
      const Bad = { key: accountId<NativeRequest>(boom), count: 9, period: '1h' };
      const { app, counts, seen, allReleased } = await serveSlots(framework, {
        isLate,
        limits: { InFlight, Bad },
        all: (limiter) => middlewares.map((limits) => ({ limiter, limits })),
      });
      for (let i = 0; i < 3; i++) {
        expect((await app.get('/', as('ann'))).status).toBe(418);
        await expect.poll(() => counts.held).toBe(0);
      }
      expect(app.errors).toHaveLength(3);
      expect(seen.handled).toBe(0);
      await allReleased();
      expect(counts.taken).toBe(3);
    });

    test('when the response to a HEAD request was sent', async (context) => {
      if (framework.ignoresHead === true) context.skip('it never answers HEAD');
      const { app, counts, allReleased } = await serveSlots(framework, { isLate, handle: () => 'ok' });
      expect((await app.get('/', { method: 'HEAD', ...as('ann') })).status).toBe(200);
      await allReleased();
      expect(counts.taken).toBe(1);
    });

    test.each([204, 304])('when a response without a body was sent: %d', async (status) => {
      const { app, counts, allReleased } = await serveSlots(framework, {
        isLate,
        handle: (context) => (context.status(status), ''),
      });
      expect((await app.get('/', as('ann'))).status).toBe(status);
      await allReleased();
      expect(counts.taken).toBe(1);
    });

    test('when a stream has ended, and not before', async () => {
      const streams: Writable[] = [];
      const handle: Handler = ({ outgoing }) => {
        streams.push(outgoing);
        outgoing.write('the first part');
        return undefined;
      };
      const { app, begin, counts, allReleased } = await serveSlots(framework, { isLate, limits: { InFlight }, handle });
      const visit = await begin();
      await expect.poll(() => streams.length).toBe(1);
      streams[0]!.write('the second part');
      expect((await app.get('/', as('ann'))).status).toBe(429);
      expect(counts.held).toBe(1);
      streams[0]!.end();
      expect((await visit.answer).body).toBe('the first partthe second part');
      await allReleased();
    });

    test('when the client leaves amid a stream', async () => {
      let parts = 0;
      const handle: Handler = ({ outgoing }) => {
        outgoing.write('the first part');
        parts++;
        return undefined;
      };
      const { begin, counts, allReleased } = await serveSlots(framework, { isLate, handle });
      const visit = await begin();
      await expect.poll(() => parts).toBe(1);
      expect(counts.held).toBe(1);
      visit.leave();
      await allReleased();
    });

    test('when the client has left before the store answered', async () => {
      let keys = 0;
      let go = (): void => undefined;
      const gone = new Promise<void>((resolve) => (go = resolve));
      const key = accountId<NativeRequest>(async () => {
        keys++;
        await gone;
        return 'ann';
      });
      let over = 0;
      const { app, decisions, counts, open, allReleased } = await serveSlots(framework, {
        isLate,
        limits: { InFlight: concurrency({ key, concurrency: 1 }) },
        before: ({ outgoing }) => void outgoing.once('close', () => over++),
      });
      open();
      const visit = app.visit('/', as('ann'));
      await expect.poll(() => keys).toBe(1);
      visit.leave();
      await expect.poll(() => over).toBe(1);
      go();
      await expect.poll(() => decisions.length).toBe(1);
      await allReleased();
      expect(counts.taken).toBe(1);
    });

    test('when other code ends the response, also if the handler goes on', async () => {
      const outgoings: Writable[] = [];
      const { app, begin, seen, open, counts, allReleased } = await serveSlots(framework, {
        isLate,
        before: ({ outgoing }) => void outgoings.push(outgoing),
      });
      const visit = await begin();
      await expect.poll(() => seen.inProgress).toBe(1);
      outgoings[0]!.end('too late');
      expect((await visit.answer).body).toBe('too late');
      await expect.poll(() => counts.held).toBe(0);
      expect(seen.inProgress).toBe(1);
      open();
      await expect.poll(() => seen.inProgress).toBe(0);
      await allReleased();
      expect(app.errors.filter((error) => (error as { code?: string }).code !== 'ERR_HTTP_HEADERS_SENT')).toEqual([]);
    });

    test('when the limiter closes, and not again when the responses end', async () => {
      const { app, limiter, begin, counts, open, allReleased } = await serveSlots(framework, { isLate });
      const visits = [await begin('ann'), await begin('bob')];
      expect(counts.held).toBe(2);
      await limiter.close();
      expect(counts.held).toBe(0);
      open();
      for (const { answer } of visits) expect((await answer).status).toBe(200);
      expect((await app.get('/', as('ann'))).status).toBe(500);
      await allReleased();
      expect(counts.taken).toBe(2);
    });
  });

  describe.each([false, true])('of requests that wait for their turn (late store: %s)', (isLate) => {
    const Queue = { key: accountId<NativeRequest>(() => 'all'), burst: 1, count: 10, period: '1s', maxWait: '1s' };
    const serve = () =>
      serveSlots(framework, { isLate, limits: { InFlight: concurrency({ key: userKey, concurrency: 2 }), Queue } });

    test('slots are held while they wait, and until their responses are over', async () => {
      const { begin, seen, time, counts, open, allReleased } = await serve();
      const visits = [await begin(), await begin()];
      await expect.poll(() => seen.inProgress).toBe(1);
      expect(counts.held).toBe(2);
      expect((await (await begin()).answer).status).toBe(429);
      time.advance(100);
      await expect.poll(() => seen.inProgress).toBe(2);
      expect(counts.held).toBe(2);
      open();
      for (const { answer } of visits) expect((await answer).status).toBe(200);
      await allReleased();
    });

    test('slots are released when the client leaves while it waits', async () => {
      const { begin, seen, time, counts, open, allReleased } = await serve();
      const first = await begin();
      const second = await begin();
      expect(counts.held).toBe(2);
      second.leave();
      await expect.poll(() => counts.held).toBe(1);
      time.advance(1000);
      open();
      expect((await first.answer).status).toBe(200);
      await allReleased();
      expect(seen.handled).toBe(1);
    });

    test('slots are released when the limiter closes while they wait', async () => {
      const { limiter, begin, counts, open, allReleased } = await serve();
      const visits = [await begin(), await begin()];
      expect(counts.held).toBe(2);
      await limiter.close();
      open();
      expect(await Promise.all(visits.map(async ({ answer }) => (await answer).status))).toEqual([200, 503]);
      await allReleased();
    });
  });
}
