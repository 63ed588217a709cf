import type { Limiter, LimiterEvent } from '@sluice/core';
import { expect, test } from 'vitest';
import type { Context, Framework, Handler, NativeRequest, Options } from '../framework.ts';
import { as, heldStore, stillLimiter, userKey } from '../limiters.ts';
import { start } from '../start.ts';

/** The true cost of a response that its client aborted, where a limit asks for it. */
export function settleAbortedCases(framework: Framework): void {
  interface Settle {
    readonly mode?: 'check-and-spend' | 'check-only';
    readonly settleAborted?: boolean;
    readonly trueCost: Parameters<Framework['settle']>[0];
    readonly onEvent?: (event: LimiterEvent) => void;
  }

  const ESTIMATED = 20_000;

  /** An LLM's tokens by user, of which a request is estimated to cost 20,000 of 50,000. */
  function tokens({ trueCost, onEvent, ...use }: Settle): { limiter: Limiter<NativeRequest>; limits: Options[] } {
    const limiter = stillLimiter({
      limits: { PerUser: { key: userKey, count: 50_000, period: '1h' } },
      onEvent: (event) => onEvent?.(event),
    });
    const settle = framework.settle(trueCost);
    return { limiter, limits: [{ limiter, limits: [{ limit: 'PerUser', cost: ESTIMATED, settle, ...use }] }] };
  }
  const remaining = async (limiter: Limiter<NativeRequest>): Promise<number> =>
    (await limiter.check([{ limit: 'PerUser', id: 'ann' }])).remaining;

  /** Streams until the client leaves. */
  const stream: Handler = ({ outgoing }) => {
    outgoing.write('the first tokens');
    return undefined;
  };
  const closed = ({ outgoing }: Context): Promise<unknown> => new Promise((done) => outgoing.once('close', done));

  /** Asks for a stream, and leaves amid it. */
  async function abort(limits: readonly Options[], handle: Handler = stream): Promise<void> {
    let over: Promise<unknown> = Promise.resolve();
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const app = await start(framework, {
      limits,
      routes: {
        '/': {
          handle(context) {
            over = closed(context);
            begin();
            return handle(context);
          },
        },
      },
    });
    const visit = app.visit('/', as('ann'));
    await begun;
    visit.leave();
    await over;
  }

  test.each(['check-and-spend', 'check-only'] as const)(
    'a stream that was aborted after 100 of 20,000 estimated tokens costs 100: %s',
    async (mode) => {
      const ends: unknown[] = [];
      const trueCost = (_status: number, end: unknown): number => (ends.push(end), 100);
      const { limiter, limits } = tokens({ mode, settleAborted: true, trueCost });
      await abort(limits);
      await expect.poll(() => remaining(limiter)).toBe(50_000 - 100);
      expect(ends).toEqual([{ finished: false }]);
    },
  );

  test.each([undefined, false])('without settleAborted: true the full cost stays: %o', async (settleAborted) => {
    let asked = 0;
    const { limiter, limits } = tokens({
      ...(settleAborted !== undefined && { settleAborted }),
      trueCost: () => (asked++, 100),
    });
    await abort(limits);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await remaining(limiter)).toBe(50_000 - ESTIMATED);
    expect(asked).toBe(0);
  });

  test.each([true, false])(
    'settle is called with finished after a complete response: settleAborted %s',
    async (settleAborted) => {
      const ends: unknown[] = [];
      const { limiter, limits } = tokens({ settleAborted, trueCost: (_status, end) => (ends.push(end), 300) });
      const app = await start(framework, { limits });
      expect((await app.get('/', as('ann'))).status).toBe(200);
      await expect.poll(() => remaining(limiter)).toBe(50_000 - 300);
      expect(ends).toEqual([{ finished: true }]);
    },
  );

  test('settle may wait for a handler that notices the abort later', async () => {
    let report = (_used: number): void => undefined;
    const used = new Promise<number>((resolve) => (report = resolve));
    const { limiter, limits } = tokens({ settleAborted: true, trueCost: () => used });
    await abort(limits, async (context) => {
      context.outgoing.write('the first tokens');
      await closed(context);
      report(700);
      return undefined;
    });
    await expect.poll(() => remaining(limiter)).toBe(50_000 - 700);
  });

  test('a settle that throws on an aborted response: the full cost stays, and there is an event', async () => {
    const events: LimiterEvent[] = [];
    const trueCost = (): number => {
      throw new Error('boom');
    };
    const { limiter, limits } = tokens({ settleAborted: true, trueCost, onEvent: (event) => events.push(event) });
    await abort(limits);
    await expect.poll(() => events).toMatchObject([{ type: 'callback-failed', callback: 'settle' }]);
    expect(await remaining(limiter)).toBe(50_000 - ESTIMATED);
  });

  test('a client that has left before the handler runs: the full cost stays, because settle has no information yet', async () => {
    const { store, arrived, release } = heldStore();
    const limiter = stillLimiter({
      limits: { PerUser: { key: userKey, count: 50_000, period: '1h' } },
      store,
      failure: { deadlineMs: 5000 },
    });
    let asked = 0;
    const settle = framework.settle(() => (asked++, 0));
    let over: Promise<unknown> = Promise.resolve();
    const app = await start(framework, {
      before: (context) => void (over = closed(context)),
      limits: [{ limiter, limits: [{ limit: 'PerUser', cost: ESTIMATED, settle, settleAborted: true }] }] as Options[],
    });
    const visit = app.visit('/', as('ann'));
    await expect.poll(arrived).toBe(1);
    visit.leave();
    await over;
    release();
    await expect.poll(() => remaining(limiter)).toBe(50_000 - ESTIMATED);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await remaining(limiter)).toBe(50_000 - ESTIMATED);
    expect(asked).toBe(0);
  });
}
