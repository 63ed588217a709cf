import { accountId, createLimiter, memoryStore, type LimiterEvent } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { flowSettings, runFlow, type ExchangeEnd, type SlotsUntil } from '@sluice/core/http';
import { FakeTime } from '@sluice/core/testing';
import { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { onceEnded } from '../../src/kinds/concurrency/ended-response.ts';
import { plainExchange } from '../support/plain-exchange.ts';

/** One slot for each user, held by the option. */
function slots(slotsUntil: SlotsUntil) {
  const time = new FakeTime();
  const store = memoryStore({ time });
  const events: LimiterEvent[] = [];
  const limiter = createLimiter({
    limits: { InFlight: concurrency({ key: accountId(() => 'ann'), concurrency: 1, expiry: '5s' }) },
    store,
    time,
    log: false,
    onEvent: (event) => events.push(event),
  });
  const settings = flowSettings({ limiter, slotsUntil }, []);
  const onEnd = (end: ExchangeEnd) => (done: (end: ExchangeEnd) => void) => done(end);
  return { time, settings, events, onEnd, held: () => store.stats().slots['InFlight'] ?? 0 };
}

test.each([['never'], [true], [5000], [null]])('slotsUntil %o is an error with its remedy', (slotsUntil) => {
  const limiter = createLimiter({ limits: { InFlight: concurrency({ key: accountId(() => 'ann'), concurrency: 1 }) } });
  expect(() => flowSettings({ limiter, slotsUntil: slotsUntil as never }, [])).toThrow(
    /^`slotsUntil` must be 'response' or 'handler' or a function, but was .+\. With 'handler' a slot is held until/,
  );
});

test("a limit of one's own without slots has no slotsUntil but the default", () => {
  const inline = { count: 5, period: '1m' } as const;
  expect(() => flowSettings({ ...inline, slotsUntil: 'handler' }, [])).toThrow(
    "`slotsUntil` must be left out without `concurrency`, but was 'handler'. Only concurrency limits have slots, e.g. rateLimit({ limit: concurrency({ key, concurrency: 10 }), slotsUntil: 'handler' }).",
  );
  expect(() => flowSettings({ ...inline, slotsUntil: 'response' }, [])).not.toThrow();
  expect(() =>
    flowSettings({ limit: concurrency({ key: accountId(() => 'ann'), concurrency: 5 }), slotsUntil: 'handler' }, []),
  ).not.toThrow();
});

test('until the handler: an adapter that does not know when handlers end is an error at the first request', () => {
  const { settings, onEnd, held } = slots('handler');
  expect(() => runFlow(settings, plainExchange({ onEnd: onEnd('finished') }), [])).toThrow(
    "`slotsUntil` must be 'response' or a function here, because this adapter does not know when a handler ends, but was 'handler'.",
  );
  expect(held()).toBe(0);
});

test('until the handler: the end of the response does not count', () => {
  const { settings, onEnd, held } = slots('handler');
  let end = (): void => undefined;
  const onHandled = (done: () => void): void => void (end = done);
  expect(runFlow(settings, plainExchange({ onEnd: onEnd('unknown'), onHandled }), [])).toBeNull();
  expect(held()).toBe(1);
  end();
  expect(held()).toBe(0);
});

test('until a function: after a response whose end is unknown the slot is free after its expiry, with a warning', () => {
  const { settings, time, onEnd, events } = slots(() => undefined);
  const send = () => runFlow(settings, plainExchange({ onEnd: onEnd('unknown') }), []);
  expect(send()).toBeNull();
  expect(send()).toMatchObject({ status: 429 });
  time.advance(5000);
  expect(send()).toBeNull();
  expect(events).toMatchObject([{ type: 'warning' }]);
});

test('a client that has left is not let through, and what it took stays taken', () => {
  const limiter = createLimiter({ limits: { PerUser: { key: accountId(() => 'ann'), count: 2, period: '1h' } } });
  const settings = flowSettings({ limiter }, []);
  const send = (hasLeft: boolean) => runFlow(settings, plainExchange({ hasLeft }), []);
  expect([send(true), send(false)]).toEqual(['left', null]);
  expect(send(true)).toMatchObject({ status: 429 });
});

test.each(['end', 'destroy'] as const)('a response is ended by %s, reported once to each callback', (method) => {
  const response = new ServerResponse(new IncomingMessage(null as never));
  const seen: string[] = [];
  onceEnded(response, () => seen.push('first'));
  onceEnded(response, () => seen.push('second'));
  expect(seen).toEqual([]);
  response[method]();
  response[method]();
  expect(seen).toEqual(['first', 'second']);
});

test('a response that was ended before is reported at once', () => {
  const response = new ServerResponse(new IncomingMessage(null as never));
  response.end();
  let isEnded = false;
  onceEnded(response, () => (isEnded = true));
  expect(isEnded).toBe(true);
});

test('until the handler: a request that took no slot waits for no end of its handler', () => {
  const limiter = createLimiter({ limits: { InFlight: concurrency({ key: accountId(() => null), concurrency: 1 }) } });
  const settings = flowSettings({ limiter, slotsUntil: 'handler' }, []);
  let asked = 0;
  const exchange = plainExchange({ onEnd: () => undefined, onHandled: () => asked++ });
  expect(runFlow(settings, exchange, [])).toBeNull();
  expect(asked).toBe(0);
});
