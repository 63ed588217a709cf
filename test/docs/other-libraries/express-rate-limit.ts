import { accountId, clientNetwork, createLimiter, ipAddress } from '@sluice/core';
import { rateLimit as ours, type RateLimitOptions } from '@sluice/express';
import express, { type Request, type RequestHandler } from 'express';
import { ipKeyGenerator, MemoryStore, rateLimit as theirs, type Options } from 'express-rate-limit';
import type { Redis } from 'ioredis';
import { RedisStore } from 'rate-limit-redis';
import { onNothing, onRedis } from './stores.ts';
import {
  all,
  answers,
  body,
  denial,
  fieldsOf,
  from,
  header,
  over,
  pair,
  times,
  type Ask,
  type Pair,
  type Rows,
  type Seen,
  type Send,
} from './pairs.ts';

const MINUTE = 60_000;
const ACCOUNT = 'x-account';
const accountOf = (req: Request): string => req.get(ACCOUNT) ?? '';
const byAccount = accountId(accountOf);

const there = (options: Partial<Options>): RequestHandler =>
  theirs({ windowMs: MINUTE, validate: false, ...('max' in options ? {} : { limit: 2 }), ...options });
const here = (options: Partial<RateLimitOptions>): RequestHandler =>
  ours({ count: 2, period: '1m', trustedProxies: ['loopback'], log: false, ...options } as RateLimitOptions);

/** An application with a limit on all that it serves. `/missing` fails. */
function app(...limits: readonly RequestHandler[]): Send {
  const served = express().set('trust proxy', 'loopback');
  for (const limit of limits) served.use(limit);
  return over(served.use((req, res) => void res.status(req.path === '/missing' ? 404 : 200).end()));
}

const both = (
  theirOptions: Partial<Options>,
  ourOptions: Partial<RateLimitOptions>,
  asks: readonly Ask[],
  seen?: Seen,
): Promise<Pair> =>
  pair(
    () => answers(app(there(theirOptions)), asks, seen),
    () => answers(app(here(ourOptions)), asks, seen),
  );

/** A login behind a limit of the whole application, and what each library says of the login in `req.rateLimit`. */
async function login(
  ofTheirs: (info: TheirInfo) => unknown,
  ofOurs: (req: Request) => unknown,
  asks = 2,
): Promise<Pair> {
  const answer =
    (said: (req: Request) => unknown): RequestHandler =>
    (req, res) =>
      void res.json(said(req));
  const info = (req: Request): TheirInfo => (req as unknown as { readonly rateLimit: TheirInfo }).rateLimit;
  return pair(
    () =>
      answers(
        app(
          there({ limit: 100 }),
          there({ limit: 5 }),
          answer((req) => ofTheirs(info(req))),
        ),
        times(asks),
        body,
      ),
    () => answers(app(here({ count: 100 }), here({ count: 5, name: 'Login' }), answer(ofOurs)), times(asks), body),
  );
}
interface TheirInfo {
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  readonly resetTime: Date;
  readonly key: string;
}
const ofLogin = (req: Request) => req.rateLimit!.of('Login')!;
const inMinutes = (ms: number): number => Math.round((ms - Date.now()) / MINUTE);

const SILENT = { warn: () => undefined, error: () => undefined } as unknown as Options['logger'];
const commandsOf =
  (client: Redis) =>
  (...args: readonly string[]) =>
    client.call(args[0]!, ...args.slice(1)) as Promise<string>;

export const options: Rows = {
  '`windowMs`': () =>
    both(
      { windowMs: 90_000, standardHeaders: 'draft-7' },
      { period: 90_000, fields: 'draft-7' },
      times(1),
      fieldsOf('ratelimit-policy'),
    ),
  '`limit`, `max`': () => all(both({ limit: 3 }, { count: 3 }, times(4)), both({ max: 3 }, { count: 3 }, times(4))),
  '`limit`, `max` as a function of the request': () => {
    const limiter = createLimiter({
      limits: { Requests: { key: byAccount, count: 1, period: '1m' } },
      overrides: (_limit, _id, req?: Request) =>
        req?.get('x-plan') === 'pro' ? { count: 3, period: '1m' } : undefined,
    });
    const plan = (req: Request): number => (req.get('x-plan') === 'pro' ? 3 : 1);
    const asks = [...times(4, { 'x-account': '1', 'x-plan': 'pro' }), ...times(2, { 'x-account': '2' })];
    return pair(
      () => answers(app(there({ limit: plan, keyGenerator: accountOf })), asks),
      () => answers(app(ours({ limiter })), asks),
    );
  },
  '`keyGenerator`': () => both({ keyGenerator: accountOf }, { key: byAccount }, header(ACCOUNT, '1', '1', '1', '2')),
  '`ipv6Subnet` (56)': () => {
    const neighbours = from('2001:db8:1:100::1', '2001:db8:1:1ff::1', '2001:db8:1:100::2', '2001:db8:1:200::1');
    return all(
      both({}, { key: clientNetwork({ ipv6PrefixLength: 56 }) }, neighbours),
      both({ ipv6Subnet: false }, { key: ipAddress() }, neighbours),
    );
  },
  '`skip`': () => {
    const skip = (req: Request): boolean => req.path === '/health';
    return both({ skip }, { skip }, [...times(3, { path: '/health' }), ...times(3)]);
  },
  '`handler`, `message`, `statusCode`': () => {
    const onDenied: RateLimitOptions['onDenied'] = (_req, res) => void res.status(420).send('calm down');
    const handler: Options['handler'] = (_req, res) => void res.status(420).send('calm down');
    return all(
      both({ statusCode: 420, message: 'calm down' }, { onDenied }, times(3), denial),
      both({ handler }, { onDenied }, times(3), denial),
    );
  },
  // Until all is used up, the time until the end of a window is not that until a bucket is full.
  '`standardHeaders`, `legacyHeaders`, `headers`': () => {
    const legacy = ['x-ratelimit-limit', 'x-ratelimit-remaining'];
    const six = ['ratelimit-policy', 'ratelimit-limit', 'ratelimit-remaining'];
    const seen = fieldsOf(...legacy, ...six);
    return all(
      both({ standardHeaders: 'draft-7', legacyHeaders: false }, { fields: 'draft-7' }, times(2), seen),
      both({ standardHeaders: 'draft-6', legacyHeaders: false }, { fields: 'draft-6' }, times(2), seen),
      both({}, { fields: 'legacy' }, times(2), seen),
      both({ legacyHeaders: false }, { fields: false }, times(2), seen),
    );
  },
  '`identifier`': () =>
    both({ standardHeaders: 'draft-8', identifier: 'api' }, { name: 'api' }, times(1), (answer) =>
      /^"\w+"; ?q=\d+; ?w=\d+/.exec(answer.get('ratelimit-policy')!)![0].replaceAll(' ', ''),
    ),
  '`skipFailedRequests`': () =>
    both({ skipFailedRequests: true }, { settle: (_req, res) => (res.statusCode < 400 ? 1 : 0) }, [
      ...times(3, { path: '/missing' }),
      ...times(3),
    ]),
  '`skipSuccessfulRequests`': () =>
    both({ skipSuccessfulRequests: true }, { settle: (_req, res) => (res.statusCode < 400 ? 0 : 1) }, [
      ...times(3),
      ...times(3, { path: '/missing' }),
    ]),
  '`requestWasSuccessful`': () =>
    both(
      { skipFailedRequests: true, requestWasSuccessful: (req) => req.path !== '/free' },
      { settle: (req) => (req.path === '/free' ? 0 : 1) },
      [...times(3, { path: '/free' }), ...times(3)],
    ),
  '`store`': async () => {
    const { client, limiter: shared } = await onRedis();
    const two = (limit: () => RequestHandler) => async () => {
      const [first, second] = [app(limit()), app(limit())];
      return [await answers(first, times(2)), await answers(second, times(1))];
    };
    return pair(
      two(() => there({ store: new RedisStore({ sendCommand: commandsOf(client) }) })),
      two(() => here({ ...shared, name: 'Requests' })),
    );
  },
  '`passOnStoreError`': async () => {
    const { client, limiter: shared } = await onNothing();
    return both(
      { store: new RedisStore({ sendCommand: commandsOf(client) }), passOnStoreError: true, logger: SILENT },
      { ...shared, name: 'Requests', failure: { onFailure: 'open' } },
      times(3),
    );
  },
  '`logger`': async () => {
    const [linesThere, linesHere]: [unknown[], unknown[]] = [[], []];
    const log = (lines: unknown[]) => (line: unknown) => void lines.push(line);
    const told = { warn: log(linesThere), error: log(linesThere) } as unknown as Options['logger'];
    const without = express().use(there({ validate: true, logger: told }), (_req, res) => void res.end());
    // Both say once that a proxy is there which they do not know.
    await answers(over(without), from('203.0.113.7', '203.0.113.8'));
    await answers(
      app(here({ trustedProxies: undefined, log: log(linesHere) } as never)),
      from('203.0.113.7', '203.0.113.8'),
    );
    return [linesThere.length, linesHere.length];
  },
};

export const calls: Rows = {
  '`ipKeyGenerator(ip)` as a fallback': () =>
    both(
      { keyGenerator: (req) => req.get(ACCOUNT) ?? ipKeyGenerator(req.ip!, 48) },
      { key: accountId((req: Request) => req.get(ACCOUNT) ?? null).or(clientNetwork()) },
      [...header(ACCOUNT, '1', '1', '1'), ...from('2001:db8:1::1', '2001:db8:1:2::1', '2001:db8:1::3', '203.0.113.7')],
    ),
  '`resetKey(key)`': () => {
    const limit = there({ keyGenerator: accountOf }) as ReturnType<typeof theirs>;
    const limiter = ofAccounts();
    const asks = header(ACCOUNT, '1', '1', '1');
    const between = (of: Send, reset: () => unknown) => async () => [
      await answers(of, asks),
      await reset(),
      await answers(of, asks),
    ];
    return pair(
      between(app(limit), () => limit.resetKey('1')),
      between(app(ours({ limiter })), () => limiter.reset([{ limit: 'Requests', id: '1' }])),
    );
  },
  '`getKey(key)`': () => {
    const limit = there({ keyGenerator: accountOf }) as ReturnType<typeof theirs>;
    const limiter = ofAccounts();
    const used = async (of: Send, remaining: () => Promise<number>) => [
      await answers(of, header(ACCOUNT, '1')),
      await remaining(),
      await remaining(),
    ];
    return pair(
      () => used(app(limit), async () => 2 - (await limit.getKey('1'))!.totalHits),
      () =>
        used(
          app(ours({ limiter })),
          async () => (await limiter.check([{ limit: 'Requests', id: '1', cost: 0 }])).remaining,
        ),
    );
  },
  '`shutdown()` of a store': async () => {
    const store = new MemoryStore();
    store.init({ windowMs: MINUTE } as Options);
    const limiter = ofAccounts();
    return pair(
      () => store.shutdown(),
      () => limiter.close(),
    );
  },
  '`req.rateLimit.limit`': () =>
    login(
      ({ limit }) => limit,
      (req) => ofLogin(req).burst,
    ),
  '`req.rateLimit.used`': () =>
    login(
      ({ used }) => used,
      (req) => ofLogin(req).burst - ofLogin(req).remaining,
    ),
  '`req.rateLimit.remaining`': () =>
    login(
      ({ remaining }) => remaining,
      (req) => ofLogin(req).remaining,
    ),
  // A window ends as a whole. A bucket fills token by token, and takes as long when it is empty.
  '`req.rateLimit.resetTime`': async () => {
    const [ends, full] = await login(
      ({ resetTime }) => inMinutes(resetTime.getTime()),
      (req) => inMinutes(Date.now() + ofLogin(req).resetAfterMs),
      5,
    );
    return [(ends as number[]).at(-1), (full as number[]).at(-1)];
  },
  '`req.rateLimit.key`': async () => {
    const [keys, ids] = await login(
      ({ key }) => key,
      (req) => ofLogin(req).id,
    );
    return [(keys as string[]).map((key) => key.replace('::ffff:', '')), ids];
  },
};

function ofAccounts() {
  return createLimiter({ limits: { Requests: { key: byAccount, count: 2, period: '1m' } } });
}
