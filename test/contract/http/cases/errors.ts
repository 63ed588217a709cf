import { accountId } from '@sluice/core';
import { expect, test } from 'vitest';
import type { Framework, NativeRequest, Options } from '../framework.ts';
import { as, inlinePerUser, stillLimiter, thenable, userKey } from '../limiters.ts';
import { start } from '../start.ts';

/** Limits of which one function is given. */
const PLACES = {
  key: (thrower: () => unknown): Options => inlinePerUser({ key: accountId(thrower as never) }),
  cost: (thrower: () => unknown): Options => inlinePerUser({ cost: thrower }),
  skip: (thrower: () => unknown): Options => inlinePerUser({ skip: thrower }),
};

/** Outcomes of requests when a function of the user throws on their way. */
export function errorCases(framework: Framework): void {
  const boom = (): never => {
    throw Object.assign(new Error('boom'), { status: 418, statusCode: 418 });
  };
  const throwers: [string, () => unknown][] = [
    ['throws', boom],
    ['rejects', async () => boom()],
    ['gives a thenable that rejects', () => thenable((_done, fail) => fail(thrown(boom)))],
  ];
  for (const [place, options] of Object.entries(PLACES)) {
    test.each(throwers)(`a ${place} function that %s: its error reaches the error handler`, async (_how, thrower) => {
      let handled = 0;
      const app = await start(framework, {
        limits: [options(thrower)],
        routes: { '/': { handle: () => `${++handled}` } },
      });
      expect((await app.get('/', as('ann'))).status).toBe(418);
      expect(app.errors).toMatchObject([{ message: 'boom' }]);
      expect(handled).toBe(0);
    });
  }
  letsNothingThrough(framework, 'key');

  test('functions of two limits that both fail are one error, and nothing is left unhandled', async () => {
    const rejecting = accountId<NativeRequest>(async () => boom());
    const throwing = accountId<NativeRequest>(boom);
    const limit = { count: 1, period: '1m' };
    const limiter = stillLimiter({
      limits: { A: { key: rejecting, ...limit }, B: { key: throwing, ...limit }, C: { key: rejecting, ...limit } },
    });
    const app = await start(framework, { limits: [{ limiter, limits: ['A', 'B', 'C'] }] });
    expect((await app.get()).status).toBe(418);
    expect(app.errors).toHaveLength(1);
  });

  test('a limiter that was closed is an error, not an open door', async () => {
    const limiter = stillLimiter({ limits: { PerUser: { key: userKey, count: 1, period: '1m' } } });
    const app = await start(framework, { limits: [{ limiter }] });
    await limiter.close();
    expect((await app.get('/', as('ann'))).status).toBe(500);
    expect(app.errors).toMatchObject([{ code: 'ERR_CLOSED' }]);
  });
}

/** Values that are not errors, thrown by the functions of which an adapter sees no difference to those of keys. */
export function otherErrorCases(framework: Framework): void {
  for (const place of ['cost', 'skip'] as const) letsNothingThrough(framework, place);
}

function letsNothingThrough(framework: Framework, place: keyof typeof PLACES): void {
  test.each([
    ['throws', (value: unknown) => () => { throw value; }], // prettier-ignore
    ['rejects with', (value: unknown) => () => Promise.reject(value)],
  ])(`a ${place} function that %s a value that is not an error lets no request through`, async (_how, thrower) => {
    for (const value of [undefined, null, '', 0, false, 'route', 'router']) {
      let handled = 0;
      const app = await start(framework, {
        limits: [PLACES[place](thrower(value))],
        routes: { '/': { handle: () => `${++handled}` } },
      });
      expect((await app.get('/', as('ann'))).status).toBe(500);
      expect(app.errors).toHaveLength(1);
      expect(handled).toBe(0);
    }
  });
}

function thrown(run: () => never): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}
