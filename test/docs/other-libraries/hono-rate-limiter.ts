import { accountId, everyone } from '@sluice/core';
import { rateLimit as ours } from '@sluice/hono';
import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { rateLimiter as theirs } from 'hono-rate-limiter';
import {
  all,
  answers,
  denial,
  fieldsOf,
  header,
  pair,
  times,
  type Ask,
  type Pair,
  type Rows,
  type Seen,
  type Send,
} from './pairs.ts';

const ACCOUNT = 'x-account';
const accountOf = (c: Context): string => c.req.header(ACCOUNT) ?? '';

const there = (options: object): MiddlewareHandler =>
  theirs({ windowMs: 60_000, limit: 2, keyGenerator: accountOf, ...options });
const here = (options: object): MiddlewareHandler =>
  ours({
    count: 2,
    period: '1m',
    key: accountId(accountOf),
    address: () => '203.0.113.7',
    ...options,
  });

function app(limit: MiddlewareHandler): Send {
  const served = new Hono().use(limit).get('*', (c) => c.text('ok'));
  served.onError((error, c) => c.text(error.message, (error as unknown as { status: 400 }).status));
  return async (path, fields) => {
    const response = await served.request(path, { headers: fields });
    return {
      status: response.status,
      text: await response.text(),
      get: (name) => response.headers.get(name) ?? undefined,
    };
  };
}

const ofOne = (count: number): readonly Ask[] => times(count, { [ACCOUNT]: '1' });
const both = (theirOptions: object, ourOptions: object, asks: readonly Ask[], seen?: Seen): Promise<Pair> =>
  pair(
    () => answers(app(there(theirOptions)), asks, seen),
    () => answers(app(here(ourOptions)), asks, seen),
  );

export const options: Rows = {
  '`windowMs`, `limit`': () =>
    all(
      both({ limit: 3 }, { count: 3 }, ofOne(4)),
      both({ windowMs: 90_000 }, { period: 90_000, fields: 'draft-6' }, ofOne(1), fieldsOf('ratelimit-policy')),
    ),
  '`keyGenerator`': () => both({}, {}, header(ACCOUNT, '1', '1', '1', '2')),
  // There, all whose text is empty share a bucket.
  "`keyGenerator` with the text `''`": () =>
    all(
      both({}, { key: everyone() }, times(3)),
      pair(
        () => [400, 400],
        () => answers(app(here({})), times(2)),
      ),
    ),
  '`skip`': () => {
    const skip = (c: Context): boolean => c.req.path === '/health';
    return both({ skip }, { skip }, [...times(3, { path: '/health', [ACCOUNT]: '1' }), ...ofOne(3)]);
  },
  '`handler`, `message`, `statusCode`': () => {
    const calm = (c: Context): Response => c.text('calm down', 420 as 429);
    return all(
      both({ message: 'calm down', statusCode: 420 }, { onDenied: calm }, ofOne(3), denial),
      both({ handler: calm }, { onDenied: calm }, ofOne(3), denial),
    );
  },
  '`standardHeaders`': () => {
    const seen = fieldsOf('ratelimit-policy', 'ratelimit-limit', 'ratelimit-remaining');
    return all(
      both({ standardHeaders: 'draft-6' }, { fields: 'draft-6' }, ofOne(2), seen),
      both({ standardHeaders: 'draft-7' }, { fields: 'draft-7' }, ofOne(2), fieldsOf('ratelimit-policy')),
      both({ standardHeaders: false }, { fields: false }, ofOne(2), seen),
    );
  },
};
