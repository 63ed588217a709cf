import { accountId, createLimiter, memoryStore, type LimiterEvent } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { flowSettings, runFlow, type Exchange, type ExchangeEnd } from '@sluice/core/http';
import { FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import { plainExchange } from '../../support/plain-exchange.ts';

/** A limiter with one slot for each user. */
function limiterOf(limit: object = {}) {
  const time = new FakeTime();
  const store = memoryStore({ time });
  const events: LimiterEvent[] = [];
  const limiter = createLimiter({
    limits: { InFlight: concurrency({ key: accountId(() => 'ann'), concurrency: 1, expiry: '5s', ...limit }) },
    store,
    time,
    log: false,
    onEvent: (event) => events.push(event),
  });
  const settings = flowSettings({ limiter }, []);
  /** @param end - How the response ends, at once. Undefined: it does not end. */
  const send = (end?: ExchangeEnd) => runFlow(settings, plainExchange({ onEnd: (done) => end && done(end) }), []);
  const run = (exchange: Exchange<object>) => runFlow(settings, exchange, []);
  return { time, limiter, events, send, run, held: () => store.stats().slots['InFlight'] ?? 0 };
}

test('slots where a request has no response are an error at the first request, and none is held', () => {
  const { run, held } = limiterOf();
  expect(() => run(plainExchange())).toThrow(
    '`limits` must be without concurrency limits here, because the request has no response',
  );
  expect(held()).toBe(0);
});

test('slots of a request that may become a connection whose end is not seen are an error, and none is held', () => {
  const { run, held } = limiterOf();
  const exchange = plainExchange({ onEnd: () => undefined, closesUnseen: true });
  expect(() => run(exchange)).toThrow(/^Limit "InFlight" can't count the connection of an upgrade/);
  expect(held()).toBe(0);
});

test('a concurrency limit that is disabled needs no response', () => {
  const { run } = limiterOf({ disabled: true });
  expect(run(plainExchange())).toBeNull();
});

test.each<ExchangeEnd>(['finished', 'aborted', 'never-begun'])('a response that is %s releases its slot', (end) => {
  const { send, held, events } = limiterOf();
  expect([send(end), send(end)]).toEqual([null, null]);
  expect(held()).toBe(0);
  expect(events).toEqual([]);
});

test.each(['store', 'process'])(
  'the slot of a response whose end is unknown is free after its expiry, with one warning (scope: %s)',
  (scope) => {
    const { time, send, events } = limiterOf({ scope });
    expect(send('unknown')).toBeNull();
    time.advance(4999);
    expect(send('unknown')).toMatchObject({ status: 429 });
    time.advance(1);
    expect(send('unknown')).toBeNull();
    expect(events).toMatchObject([
      { type: 'warning', message: expect.stringContaining('The end of a response could not be observed') },
    ]);
  },
);
