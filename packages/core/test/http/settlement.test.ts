import { accountId, createLimiter, memoryStore, type Limiter, type LimiterEvent } from '@sluice/core';
import { flowSettings, NodeExchange, runFlow, type Exchange, type LimitUse } from '@sluice/core/http';
import { FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import { plainExchange } from '../support/plain-exchange.ts';

const events: LimiterEvent[] = [];

function limiterOf(): Limiter {
  events.length = 0;
  return createLimiter({
    limits: { PerUser: { key: accountId(() => 'ann'), count: 9, period: '1h' } },
    store: memoryStore({ time: new FakeTime() }),
    log: false,
    onEvent: (event) => events.push(event),
  });
}

async function remaining(limiter: Limiter): Promise<number> {
  return (await limiter.check([{ limit: 'PerUser', id: 'ann' }])).remaining;
}

class PlainExchange extends NodeExchange<object> {
  decision = undefined;
  override getField = (): undefined => undefined;
  override setField = (): void => undefined;
}

/** An exchange of an adapter that has this for a response. */
function exchangeWith(outgoing: object | undefined): Exchange<object> {
  if (outgoing === undefined) return plainExchange();
  return new PlainExchange({}, { method: 'GET', headers: {} } as never, outgoing as never);
}

function run(limiter: Limiter, outgoing: object | undefined, use: Partial<LimitUse>): unknown {
  const settings = flowSettings({ limiter, limits: [{ limit: 'PerUser', ...use }] }, []);
  return runFlow(settings, exchangeWith(outgoing), []);
}

test('a settle where a request has no response is an error at the first request, and nothing is taken', async () => {
  const limiter = limiterOf();
  expect(() => run(limiter, undefined, { settle: () => 0 })).toThrow(
    /`limits\.PerUser\.settle` must be left out here, because the request has no response/,
  );
  expect(await remaining(limiter)).toBe(9);
});

test('without a settle a request needs no response', async () => {
  const limiter = limiterOf();
  expect(run(limiter, undefined, {})).toBeNull();
  expect(await remaining(limiter)).toBe(8);
});

test.each(['check-and-spend', 'check-only'] as const)(
  'a response that emits no events: the full cost is taken, and there is an event: %s',
  async (mode) => {
    const limiter = limiterOf();
    expect(run(limiter, {}, { cost: 4, mode, settle: () => 0 })).toBeNull();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await remaining(limiter)).toBe(5);
    expect(events).toMatchObject([
      { type: 'callback-failed', callback: 'settle', message: expect.stringContaining('the response emits no events') },
    ]);
  },
);
