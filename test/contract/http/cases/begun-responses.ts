import type { LimiterEvent, Store } from '@sluice/core';
import { expect, test } from 'vitest';
import type { Context, Framework, Options } from '../framework.ts';
import { as, lateStore, timed, userKey } from '../limiters.ts';
import { start, type App } from '../start.ts';

/** Requests that are denied when their response has begun: no 429 can be sent any more, and the response ends. */
export function begunResponseCases(framework: Framework): void {
  interface Begun {
    readonly app: App;
    readonly events: LimiterEvent[];
    readonly contexts: Context[];
  }

  /** Serves one request of each user a minute, and has one. The response to the second one begins before the limiter. */
  async function serve(begin: (outgoing: Context['outgoing']) => void, store: Store = timed().store): Promise<Begun> {
    const events: LimiterEvent[] = [];
    const contexts: Context[] = [];
    const limit = { name: 'PerUser', key: userKey, count: 1, period: '1m', store, log: false } as const;
    const app = await start(framework, {
      before(context) {
        if (contexts.push(context) === 2) begin(context.outgoing);
      },
      limits: [{ ...limit, onEvent: (event) => events.push(event) }] as Options[],
    });
    expect((await app.get('/', as('ann'))).status).toBe(200);
    return { app, events, contexts };
  }

  const stores = [
    ['at once', () => timed().store],
    ['later', () => lateStore()],
  ] as const;
  test.each(stores)('a response whose head was sent is ended, with one event: decided %s', async (_when, store) => {
    const { app, events } = await serve((outgoing) => {
      outgoing.statusCode = 200;
      outgoing.flushHeaders();
    }, store());
    const { status, body } = await app.get('/', as('ann'));
    expect([status, body]).toEqual([200, '']);
    expect(events).toEqual([{ type: 'denial-not-sent', message: expect.stringContaining('the response was ended') }]);
    expect(app.errors).toEqual([]);
  });

  test.each(stores)('what was streamed before is what the client gets: decided %s', async (_when, store) => {
    const { app, events } = await serve((outgoing) => {
      outgoing.writeHead(200, { 'Content-Type': 'text/plain' });
      outgoing.write('streamed');
    }, store());
    const { status, body } = await app.get('/', as('ann'));
    expect([status, body]).toEqual([200, 'streamed']);
    expect(events).toHaveLength(1);
  });

  const promises: [string, (outgoing: Context['outgoing']) => void][] = [
    [
      'by setHeader',
      (outgoing) => {
        outgoing.setHeader('Content-Length', 10);
        outgoing.flushHeaders();
      },
    ],
    ['by writeHead', (outgoing) => void outgoing.writeHead(200, { 'Content-Length': 10 }).write('1234')],
  ];
  test.each(promises)(
    'a response with a declared length is aborted, so that it does not seem complete: %s',
    async (_how, begin) => {
      const { app, events } = await serve(begin);
      await expect(app.get('/', as('ann'))).rejects.toThrow(/aborted|reset|hang up/);
      expect(events).toEqual([
        { type: 'denial-not-sent', message: expect.stringContaining('the response was aborted') },
      ]);
      expect(app.errors).toEqual([]);
      expect((await app.get('/', as('bob'))).status).toBe(200);
    },
  );

  test.each([
    ['an empty body', {}, 200, '0'],
    ['a status without a body', {}, 304, '10'],
    ['a HEAD request', { method: 'HEAD' }, 200, '10'],
  ])('a response that promised %s is complete', async (_what, options, code, length) => {
    if (framework.ignoresHead && 'method' in options) return;
    const { app, events } = await serve((outgoing) => {
      outgoing.statusCode = code;
      outgoing.setHeader('Content-Length', length);
      outgoing.flushHeaders();
    });
    const { status, body } = await app.get('/', { ...as('ann'), ...options });
    expect([status, body]).toEqual([code, '']);
    expect(events).toHaveLength(1);
  });

  test('a response that was complete before stays as it is, without an event', async () => {
    const { app, events } = await serve((outgoing) => outgoing.end('first'));
    expect((await app.get('/', as('ann'))).body).toBe('first');
    expect(events).toEqual([]);
  });

  test('a writer that continues after the end does no harm', async () => {
    const { app, contexts } = await serve((outgoing) => {
      outgoing.write('streamed');
      // The denial has ended the response when this runs.
      process.nextTick(() => outgoing.write('too late'));
    });
    // Over HTTP/2 Node resets a stream that is written to after its end.
    await app.get('/', as('ann')).catch(() => undefined);
    contexts[1]!.outgoing.write('too late');
    await new Promise((resolve) => setImmediate(resolve));
    expect((await app.get('/', as('bob'))).status).toBe(200);
  });
}
