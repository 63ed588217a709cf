import { accountId, everyone, type Decision } from '@sluice/core';
import { rateLimit as ours } from '@sluice/koa';
import Koa, { type Context, type Middleware } from 'koa';
import theirs from 'koa-ratelimit';
import { onRedis } from './stores.ts';
import {
  all,
  answers,
  denial,
  fieldsOf,
  header,
  over,
  pair,
  status,
  times,
  type Ask,
  type Pair,
  type Rows,
  type Seen,
  type Send,
} from './pairs.ts';

const ACCOUNT = 'x-account';
const accountOf = (ctx: Context): string => ctx.get(ACCOUNT);
const isOurs = (ctx: Context): boolean => accountOf(ctx) === 'ours';

const there = (options: object): Middleware =>
  theirs({ driver: 'memory', db: new Map(), duration: 60_000, max: 2, ...options });
const here = (options: object): Middleware => ours({ count: 2, period: '1m', log: false, ...options });

function app(limit: Middleware): Send {
  const served = new Koa();
  served.silent = true;
  served.use(limit).use((ctx) => void (ctx.body = 'ok'));
  return over(served.callback());
}

const both = (theirOptions: object, ourOptions: object, asks: readonly Ask[], seen?: Seen): Promise<Pair> =>
  pair(
    () => answers(app(there(theirOptions)), asks, seen),
    () => answers(app(here(ourOptions)), asks, seen),
  );

export const options: Rows = {
  '`driver`, `db`': async () => {
    const { client, limiter: shared } = await onRedis();
    const two = (limit: () => Middleware) => async () => [
      await answers(app(limit()), times(2)),
      await answers(app(limit()), times(1)),
    ];
    return pair(
      two(() => there({ driver: 'redis', db: client })),
      two(() => here({ ...shared, name: 'Requests' })),
    );
  },
  '`duration`': async () => {
    // It rounds down, and needs some of the time itself.
    const [retries, ownRetries] = await both(
      { duration: 90_000, max: 1 },
      { period: 90_000, count: 1 },
      times(2),
      (answer) => Number(answer.get('retry-after')) >= 88 && Number(answer.get('retry-after')) <= 90,
    );
    return [retries, ownRetries];
  },
  '`max`': () => both({ max: 3 }, { count: 3 }, times(4)),
  '`id`': () =>
    both(
      { id: (ctx: Context) => ctx.get(ACCOUNT) || false },
      { key: accountId((ctx: Context) => ctx.get(ACCOUNT) || null) },
      [...header(ACCOUNT, '1', '1', '1', '2'), ...times(3)],
    ),
  '`headers`, `disableHeader`': () => {
    const seen = fieldsOf('x-ratelimit-limit', 'x-ratelimit-remaining');
    return all(
      both({}, { fields: 'legacy' }, times(1), seen),
      both({ disableHeader: true }, { fields: false }, times(1), seen),
    );
  },
  '`whitelist`': () =>
    all(
      both(
        { whitelist: isOurs, id: accountOf },
        { skip: isOurs, key: accountId(accountOf) },
        header(ACCOUNT, 'ours', 'ours', 'ours', '1'),
      ),
      both(
        { whitelist: isOurs, id: accountOf },
        { overrides: { ours: 'unlimited' }, key: accountId(accountOf) },
        header(ACCOUNT, 'ours', 'ours', 'ours', '1'),
      ),
    ),
  '`blacklist`': () =>
    both(
      { blacklist: isOurs, id: accountOf },
      { overrides: { ours: 'blocked' }, key: accountId(accountOf) },
      header(ACCOUNT, 'ours', '1', 'ours'),
    ),
  '`throw`, `errorMessage`, `status`': () => {
    const onDenied = (ctx: Context): void => {
      ctx.status = 420;
      ctx.body = 'calm down';
    };
    return all(
      both({ errorMessage: 'calm down', status: 420 }, { onDenied }, times(3), denial),
      both(
        { errorMessage: 'calm down', status: 420, throw: true },
        { onDenied: (ctx: Context) => ctx.throw(420, 'calm down') },
        times(3),
        status,
      ),
    );
  },
  '`onLimited`': async () => {
    const [calledThere, calledHere]: [string[], string[]] = [[], []];
    await both(
      { onLimited: (ctx: Context) => calledThere.push(ctx.path) },
      { onDecision: ({ allowed }: Decision, ctx: Context) => allowed || calledHere.push(ctx.path), key: everyone() },
      times(4),
    );
    return [calledThere, calledHere];
  },
};
