import type { Key } from '@sluice/core';
import { load as loadLimit, eventLoop, type LoadOptions } from '@sluice/core/load';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { thrown } from '../../../../packages/core/test/support/thrown.ts';
import type { Framework, NativeRequest, Options } from '../framework.ts';
import { as, userKey } from '../limiters.ts';
import { start } from '../start.ts';

const REDUCED_CAPACITY = 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity';

/** A middleware with a load limit of its own. */
export function loadCases(framework: Framework): void {
  /** While the time advances at once, the event loop never waits, so its utilization is 1. */
  async function serve({ key, ...more }: Partial<Options> & { key?: Key<NativeRequest> } = {}, options?: LoadOptions) {
    const time = new FakeTime();
    const load = eventLoop(options);
    const app = await start(framework, {
      limits: [{ limit: loadLimit({ key, load }), time, log: false, ...more } as Options],
    });
    return { app, load, time };
  }

  describe('a middleware whose only limit is a load', () => {
    test('sheds all clients at the level 1, as capacity that is missing, with no field but Retry-After', async () => {
      const { app, load, time } = await serve();
      const calm = await app.get('/');
      expect(calm.status).toBe(200);
      expect(Object.keys(calm.headers).join()).not.toContain('ratelimit');
      time.advance(10_000);
      expect(load.level).toBe(1);
      const { status, headers, body } = await app.get('/');
      expect(status).toBe(503);
      expect(JSON.parse(body)).toMatchObject({ type: REDUCED_CAPACITY, status: 503 });
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
      expect(Object.keys(headers).join()).not.toContain('ratelimit');
    });

    test('sheds the requests with a small share first', async () => {
      const share = ({ headers }: { headers: object }): number => ('x-user' in headers ? 1 : 0.5);
      const { app, load, time } = await serve({ share });
      await app.get('/');
      time.advance(4000);
      expect(load.level).toBe(0.5);
      expect((await app.get('/')).status).toBe(503);
      expect((await app.get('/', as('ann'))).status).toBe(200);
    });

    test('lets unlimited ids through, and denies blocked ones, by its own key', async () => {
      const overrides = { ann: 'unlimited', bob: 'blocked' } as const;
      const { app, time } = await serve({ key: userKey, overrides });
      expect((await app.get('/', as('bob'))).status).not.toBe(200);
      expect((await app.get('/', as('cid'))).status).toBe(200);
      time.advance(10_000);
      expect((await app.get('/', as('cid'))).status).toBe(503);
      expect((await app.get('/', as('ann'))).status).toBe(200);
    });

    test('only looks with shadow: true', async () => {
      const outcomes: string[] = [];
      const onDecision = ({ outcome }: { outcome: string }): void => void outcomes.push(outcome);
      const { app, time } = await serve({ shadow: true, onDecision });
      time.advance(10_000);
      expect((await app.get('/')).status).toBe(200);
      expect(outcomes).toEqual(['denied']);
    });
  });

  test.each<[what: string, options: object, code: string, message: string]>([
    [
      'numbers of a rate in the limit',
      { limit: loadLimit({ load: eventLoop(), count: 1, period: '1s' } as never) },
      'ERR_LIMIT',
      '`rateLimit.limit.count` must be left out beside `load`: a limit is a load limit or a rate. For both define two limits, and use them in one batch.',
    ],
    [
      'numbers of a rate beside the limit',
      { limit: loadLimit({ load: eventLoop() }), count: 1, period: '1s' },
      'ERR_OPTION',
      '`rateLimit.count` must be left out beside `limit`: give it to the function that makes the limit.',
    ],
    [
      'a load without its function',
      { load: eventLoop() },
      'ERR_LIMIT',
      "`rateLimit.load` is an option of a load limit, which is made by a function. Write import { load } from '@sluice/core/load'; and rateLimit({ limit: load({ load: … }) }).",
    ],
    [
      'hidden',
      { limit: loadLimit({ load: eventLoop(), hidden: true } as never) },
      'ERR_LIMIT',
      '`rateLimit.limit.hidden` must be left out beside `load`',
    ],
    [
      'a function in place of its result',
      { limit: loadLimit({ load: eventLoop as never }) },
      'ERR_OPTION',
      '`rateLimit.limit.load` must be a source such as eventLoop()',
    ],
    [
      'numbers of an override',
      { limit: loadLimit({ load: eventLoop(), key: userKey }), overrides: { ann: { count: 1 } } },
      'ERR_OVERRIDE',
      "`rateLimit.overrides['ann']` must have no numbers",
    ],
  ])('%s of a middleware is an error', (_what, options, code, message) => {
    const error = thrown(() => framework.make(options));
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
  });
}
