import { runInNewContext } from 'node:vm';
import { checkLimits, loadLimits } from '@sluice/config';
import {
  accountId,
  clientNetwork,
  createLimiter,
  ipAddress,
  IpAddress,
  keyFrom,
  memoryStore,
  type LimiterEvent,
} from '@sluice/core';
import { domain, fqdnSet } from '@sluice/domains';
import { rateLimit } from '@sluice/express';
import { redisStore } from '@sluice/redis';
import { describe, expect, test } from 'vitest';

type Options = Readonly<Record<string, unknown>>;

const KEY = accountId(() => '7');
const NUMBERS = { count: 2, period: '1m' };
const limiterOf = (given: Options = {}) =>
  createLimiter({ limits: { Orders: { key: KEY, ...NUMBERS } }, log: false, ...given });
const limitWith = (given: Options) => limiterOf({ limits: { Orders: { key: KEY, ...NUMBERS, ...given } } });
const inline = (given: Options) => rateLimit({ ...NUMBERS, ...given } as never);
const shared = (given: Options) => rateLimit({ limiter: limiterOf(), ...given } as never);
const two = () => limiterOf({ limits: { A: { key: KEY, ...NUMBERS }, B: { key: KEY, ...NUMBERS } } });
const spend = (entry: Options) => limiterOf().spend([{ limit: 'Orders', id: '7', ...entry }]);

/** What a remedy may name. */
const SCOPE = { accountId, clientNetwork, createLimiter, ipAddress, keyFrom, rateLimit, redisStore, domain, fqdnSet };

/** Runs what a remedy says to write: as options in an object, or as an expression. */
const pasted = (code: string): unknown =>
  runInNewContext(/^\w+: /.test(code) ? `({ ${code} })` : `(${code})`, { ...SCOPE, logger: console, metrics: {} });

interface Wrong {
  /** What is done with the wrong options, and with those that the remedy gives. */
  readonly make: (options: Options) => unknown;
  readonly options: unknown;
  readonly message: string;
  /** The code in the message that is pasted in the place of the wrong options. */
  readonly remedy?: string;
}

const TABLE: Readonly<Record<string, Wrong>> = {
  'a count in quotes': {
    make: inline,
    options: { count: '100' },
    message: "`rateLimit.count` must be a whole number from 1 to 1000000000, but was '100'. Write count: 100.",
    remedy: 'count: 100',
  },
  'a burst as a bigint': {
    make: limitWith,
    options: { burst: 5n },
    message: '`limits.Orders.burst` must be a whole number from 1 to 1000000000, but was 5n. Write burst: 5.',
    remedy: 'burst: 5',
  },
  'a count that is NaN': {
    make: inline,
    options: { count: Number.NaN },
    message:
      "`rateLimit.count` must be a whole number from 1 to 1000000000, but was NaN. NaN comes from a calculation or a Number() of text, often of an environment variable that is not set. For example count: 100, period: '1m'.",
    remedy: "count: 100, period: '1m'",
  },
  'a period as a number of seconds': {
    make: inline,
    options: { period: 60 },
    message:
      "`rateLimit.period` must be a duration of whole microseconds from 1ms to 366 days, but was 60. Write its unit: '60s' for seconds, '60ms' for milliseconds.",
  },
  'a period in words': {
    make: inline,
    options: { period: '1 minute' },
    message:
      "`rateLimit.period` must be a duration of whole microseconds from 1ms to 366 days, but was '1 minute'. Write period: '1m'.",
    remedy: "period: '1m'",
  },
  'a period in weeks': {
    make: limitWith,
    options: { period: '2 weeks' },
    message:
      "`limits.Orders.period` must be a duration of whole microseconds from 1ms to 366 days, but was '2 weeks'. Write period: '14d'.",
    remedy: "period: '14d'",
  },
  'a period in capitals': {
    make: limitWith,
    options: { period: '1 Hour' },
    message:
      "`limits.Orders.period` must be a duration of whole microseconds from 1ms to 366 days, but was '1 Hour'. Write period: '1h'.",
    remedy: "period: '1h'",
  },
  'a period of too many weeks': {
    make: limitWith,
    options: { period: '60 weeks' },
    message:
      "`limits.Orders.period` must be a duration of whole microseconds from 1ms to 366 days, but was '60 weeks'. Write a string with its unit, such as '500ms', '1s', '1h30m' or '7d', or a number of milliseconds from 1000 up.",
  },
  'no options at all': {
    make: (given) => rateLimit(given as never),
    options: undefined,
    message: "`rateLimit` must be an object, but was undefined. For example rateLimit({ count: 100, period: '1m' }).",
    remedy: "{ count: 100, period: '1m' }",
  },
  'no options of createLimiter': {
    make: (given) => createLimiter(given as never),
    options: undefined,
    message:
      "`createLimiter` must be an object, but was undefined. For example createLimiter({ limits: { Requests: { key: clientNetwork(), count: 100, period: '1m' } } }).",
    remedy: "{ limits: { Requests: { key: clientNetwork(), count: 100, period: '1m' } } }",
  },
  'a limit that is text': {
    make: (given) => limiterOf({ limits: { Orders: given } }),
    options: '5/s',
    message:
      "`limits.Orders` must be an object, but was '5/s'. For example { key: clientNetwork(), count: 100, period: '1m' }.",
    remedy: "{ key: clientNetwork(), count: 100, period: '1m' }",
  },
  'a policy in the place of failure': {
    make: limiterOf,
    options: { failure: 'closed' },
    message: "`failure` must be an object, but was 'closed'. For example failure: { onFailure: 'closed' }.",
    remedy: "failure: { onFailure: 'closed' }",
  },
  'another text in the place of failure': {
    make: limiterOf,
    options: { failure: 'shut' },
    message: "`failure` must be an object, but was 'shut'. For example failure: { onFailure: 'open' }.",
    remedy: "failure: { onFailure: 'open' }",
  },
  'a deadline with a unit': {
    make: (failure) => limiterOf({ failure }),
    options: { deadlineMs: '50ms' },
    message: "`failure.deadlineMs` must be a whole number from 1 to 60000, but was '50ms'. Write deadlineMs: 50.",
    remedy: 'deadlineMs: 50',
  },
  'a deadline in seconds': {
    make: limiterOf,
    options: { overridesDeadlineMs: '1s' },
    message:
      "`overridesDeadlineMs` must be a whole number from 1 to 60000, but was '1s'. Write overridesDeadlineMs: 1000.",
    remedy: 'overridesDeadlineMs: 1000',
  },
  'a deadline out of range': {
    make: (failure) => limiterOf({ failure }),
    options: { deadlineMs: 0 },
    message: '`failure.deadlineMs` must be a whole number from 1 to 60000, but was 0. For example deadlineMs: 50.',
    remedy: 'deadlineMs: 50',
  },
  'a dialect that there is not': {
    make: inline,
    options: { fields: 'draft-8' },
    message:
      "`fields` must be 'draft-11' or 'draft-7' or 'draft-6' or 'legacy', but was 'draft-8'. For example fields: 'draft-11', which is the default, or fields: false for no RateLimit fields.",
    remedy: 'fields: false',
  },
  'a policy with a typo': {
    make: limitWith,
    options: { onFailure: 'close' },
    message:
      "`limits.Orders.onFailure` must be 'local' or 'closed' or 'open', but was 'close'. Write onFailure: 'closed'.",
    remedy: "onFailure: 'closed'",
  },
  'a policy that is none': {
    make: limitWith,
    options: { onFailure: true },
    message:
      "`limits.Orders.onFailure` must be 'local' or 'closed' or 'open', but was true. For example onFailure: 'local'.",
    remedy: "onFailure: 'local'",
  },
  'a switch in quotes': {
    make: inline,
    options: { shadow: 'false' },
    message: "`shadow` must be true or false, but was 'false'. Write shadow: false, or leave it out.",
    remedy: 'shadow: false',
  },
  'trusted proxies as one text': {
    make: limiterOf,
    options: { trustedProxies: 'loopback' },
    message:
      "`trustedProxies` must be a list of networks and names, but was 'loopback'. Write trustedProxies: ['loopback'].",
    remedy: "trustedProxies: ['loopback']",
  },
  'trusted proxies that are everyone': {
    make: limiterOf,
    options: { trustedProxies: true },
    message:
      "`trustedProxies` must be a list of networks and names, but was true. List your proxies, e.g. trustedProxies: ['loopback']. To trust all hops, or a number of them, would let clients choose their own address.",
    remedy: "trustedProxies: ['loopback']",
  },
  'a log that is a logger': {
    make: limiterOf,
    options: { log: {} },
    message: '`log` must be a function of a line, or false, but was {}. For example log: (line) => logger.warn(line).',
    remedy: 'log: (line) => logger.warn(line)',
  },
  'a jitter in percent': {
    make: inline,
    options: { retryJitter: 3 },
    message:
      '`retryJitter` must be a number from 0 to 0.03, but was 3. It is a share of the wait, e.g. retryJitter: 0.03 for up to 3 % more.',
    remedy: 'retryJitter: 0.03',
  },
  'several unknown options': {
    make: inline,
    options: { windowMs: 60_000, max: 5, coutn: 1 },
    message:
      "`rateLimit` has no option `windowMs` (its value was 60000). `windowMs` is `period` here, e.g. period: '1m'. " +
      '`rateLimit` has no option `max` (its value was 5). `max` is `count` here (tokens that come back every period; `burst` is how many may come at once). ' +
      '`rateLimit` has no option `coutn` (its value was 1). Did you mean `count`? ' +
      'Options: name, key, burst, count, period, onFailure, disabled, hidden, overrides, cost, mode, settle, settleAborted, store, trustedProxies, addressHeader, decodeNat64, failure, onEvent, log, time, skip, shadow, fields, retryJitter, limitPreflight, onDecision, onDenied.',
  },
  'an inline key that is a name': {
    make: inline,
    options: { key: 'ip' },
    message:
      "`rateLimit.key` must be a key, but was 'ip'. It gets the id that is limited from a request, e.g. key: clientNetwork() or key: accountId((req) => req.user?.id ?? null).",
    remedy: 'key: clientNetwork()',
  },
  'an inline policy that is none': {
    make: inline,
    options: { onFailure: 'shut' },
    message:
      "`rateLimit.onFailure` must be 'local' or 'closed' or 'open', but was 'shut'. For example onFailure: 'local'.",
    remedy: "onFailure: 'local'",
  },
  'inline overrides with a wrong number': {
    make: inline,
    options: { overrides: { '203.0.113.7': { count: '5', period: '1s' } } },
    message:
      "`rateLimit.overrides['203.0.113.7'].count` must be a whole number from 1 to 1000000000, but was '5'. Write count: 5.",
  },
  'inline overrides of something that is no id': {
    make: inline,
    options: { overrides: { localhost: 'unlimited' } },
    message:
      "`rateLimit.overrides` lists the id 'localhost': `id` must be an IPv4 address, or an IPv6 network with the mask /48, but was 'localhost'. Write an IPv4 address such as '203.0.113.7', or an IPv6 network such as '2001:db8:7::/48'.",
  },
  'an inline cost above the burst': {
    make: inline,
    options: { cost: 3 },
    message:
      '`cost` of limit "default" must be at most 2, the smallest burst of the limit and its overrides, but was 3. A larger cost could never pass. Raise the burst or lower the cost.',
  },
  'an inline settle that is a number': {
    make: inline,
    options: { settle: 5 },
    message:
      '`rateLimit.settle` must be a function, but was 5. It returns the true cost, e.g. settle: (req, res) => (res.statusCode === 401 ? 1 : 0).',
    remedy: 'settle: (req, res) => (res.statusCode === 401 ? 1 : 0)',
  },
  'an inline limit on a store, without a name': {
    make: inline,
    options: { store: memoryStore() },
    message:
      "`name` must be given with a store, but was undefined. Buckets are stored under it: two limits with one name would share them. For example name: 'RequestsPerClient'.",
    remedy: "name: 'RequestsPerClient'",
  },
  'a middleware that names none of two limits': {
    make: (given) => rateLimit({ limiter: two(), ...given } as never),
    options: {},
    message:
      "`limits` must be given, but was undefined. The limiter has 2 limits. Write those that apply here: limits: ['A', 'B'].",
    remedy: "limits: ['A', 'B']",
  },
  'a limiter without limits': {
    make: (given) => rateLimit({ limiter: createLimiter({ limits: {}, ...given }) } as never),
    options: {},
    message:
      "`limiter` must have a limit, but has none. For example createLimiter({ limits: { Requests: { key: clientNetwork(), count: 100, period: '1m' } } }).",
    remedy: "limits: { Requests: { key: clientNetwork(), count: 100, period: '1m' } }",
  },
  'limits that are one name': {
    make: shared,
    options: { limits: 'Orders' },
    message: "`limits` must be an array of at least one limit, but was 'Orders'. For example limits: ['Orders'].",
    remedy: "limits: ['Orders']",
  },
  'a limit of a middleware without a name': {
    make: shared,
    options: { limits: [{}] },
    message: '`limit` must be the name of a limit, but was undefined. Limits: Orders.',
  },
  'a limit of a middleware with a typo': {
    make: shared,
    options: { limits: ['Order'] },
    message: "No limit is named 'Order'. Did you mean `Orders`? Limits: Orders.",
  },
  'a limit of a limiter that has none': {
    make: (given) => createLimiter({ limits: {} }).spend([given as never]),
    options: { limit: 'Orders', id: '7' },
    message: "No limit is named 'Orders'. This limiter has no limits: give createLimiter some.",
  },
  'an entry without a limit': {
    make: (given) => limiterOf().spend([given as never]),
    options: { id: '7' },
    message: '`limit` must be the name of a limit, but was undefined. Limits: Orders.',
  },
  'an id that is a number': {
    make: spend,
    options: { id: 7 },
    message: '`id` of limit "Orders" must be a string, but was 7. Write id: \'7\'.',
    remedy: "id: '7'",
  },
  'an id that is missing': {
    make: spend,
    options: { id: undefined },
    message:
      '`id` of limit "Orders" must be a string, but was undefined. Without an id, leave the entry out: all clients without one would share a bucket.',
  },
  'a mode that there is not': {
    make: spend,
    options: { mode: 'check' },
    message:
      "`mode` must be 'check-and-spend', 'check-only', 'spend-only' or 'charge', but was 'check'. For example mode: 'check-only'.",
    remedy: "mode: 'check-only'",
  },
  'a source of the wrong type': {
    make: (given) => loadLimits({ keys: {}, ...given } as never),
    options: { defaults: 5 },
    message:
      "`defaults` must be the path of a file, a file: URL, or a function that returns text or data, but was 5. For example defaults: 'limits.yaml'.",
  },
  'formats that are no list': {
    make: (given) => checkLimits({ defaults: () => ({ A: NUMBERS }), ...given }),
    options: { formats: 'domain' },
    message:
      "`formats` must be a list of id formats, or of keys for theirs, but was 'domain'. For example formats: [domain(), fqdnSet()].",
    remedy: 'formats: [domain(), fqdnSet()]',
  },
  'a Redis store of nothing': {
    make: async (given) => redisStore(given).close(),
    options: undefined,
    message:
      "`redisStore` must be an object, but was undefined. For example redisStore({ url: 'redis://127.0.0.1:6379' }).",
    remedy: "{ url: 'redis://127.0.0.1:6379' }",
  },
  'a Redis store without a client': {
    make: async (given) => redisStore(given).close(),
    options: { prefix: 'a:' },
    message:
      "`client` or `url` must be given, but neither was. For example redisStore({ url: 'redis://127.0.0.1:6379' }).",
    remedy: "{ url: 'redis://127.0.0.1:6379' }",
  },
  'a prefix with braces': {
    make: async (given) => redisStore({ url: 'redis://127.0.0.1:1', ...given }).close(),
    options: { prefix: '{a}' },
    message:
      "`prefix` must be up to 64 letters, digits and `. _ : / -`, but was '{a}'. For example prefix: 'shop:limits:'. To keep keys in one slot, use `hashTag` instead of braces.",
    remedy: "prefix: 'shop:limits:'",
  },
};

async function messageOf(run: () => unknown): Promise<string | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

describe.each(Object.entries(TABLE))('%s', (_what, { make, options, message, remedy }) => {
  test('is an error that names option, value, demand and remedy', async () => {
    expect(await messageOf(() => make(options as Options))).toBe(message);
  });

  test.runIf(remedy !== undefined)('is accepted when the remedy is pasted', async () => {
    expect(message).toContain(remedy);
    const given = pasted(remedy!) as Options;
    const right = typeof options === 'object' ? { ...options, ...given } : given;
    expect(await messageOf(() => make(right))).toBeUndefined();
  });
});

test('many unknown options are one error, of which ten are shown', async () => {
  const unknown = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`x${i}`, i]));
  const message = await messageOf(() => memoryStore(unknown));
  expect(message).toContain(
    '`memoryStore` has no option `x9` (its value was 9). There are 2 more unknown options. Options: maxKeys, time.',
  );
  expect(message).not.toContain('`x10`');
});

test('what a key function returns instead of an id is named with its remedy', async () => {
  const key = accountId(() => undefined as never);
  const source = { request: {}, clientAddress: IpAddress.parse('203.0.113.7')! };
  expect(await messageOf(() => key.idOf!(source, 'Orders'))).toBe(
    'The key function of limit "Orders" must return a string, a safe integer, a bigint, or null for a request that the limit does not apply to, but returned undefined. To let requests without an id pass, write `?? null` after the id. To limit them by address, add .or(clientNetwork()) to the key.',
  );
  expect(await accountId(() => null).or(clientNetwork()).idOf!(source, 'Orders')).toBe('clientNetwork:203.0.113.7');
});

describe('an option that can not be read is an error that names it', () => {
  /** An object of which one property throws. */
  const withThrowing = (name: string, others: object = {}): never =>
    Object.defineProperty({ ...others }, name, {
      get() {
        throw new TypeError('boom');
      },
      enumerable: true,
    }) as never;

  test.each<[option: string, make: () => unknown]>([
    ['rateLimit.period', () => rateLimit(withThrowing('period', { count: 1 }))],
    ['rateLimit.settle', () => rateLimit(withThrowing('settle', { limiter: limiterOf() }))],
    ['rateLimit.overrides.203.0.113.7', () => inline({ overrides: withThrowing('203.0.113.7') })],
    ['createLimiter.store', () => createLimiter(withThrowing('store', { limits: {} }))],
    ['limits.Orders', () => limiterOf({ limits: withThrowing('Orders') })],
    ['limits.Orders.key', () => limiterOf({ limits: { Orders: withThrowing('key', NUMBERS) } })],
    ['overrides.Orders', () => limiterOf({ overrides: withThrowing('Orders') })],
    ['failure.onFailure', () => limiterOf({ failure: withThrowing('onFailure') })],
    ['redisStore.url', () => redisStore(withThrowing('url'))],
    ['memoryStore.clock', () => memoryStore(withThrowing('clock'))],
  ])('%s', async (option, make) => {
    expect(await messageOf(make)).toBe(
      `\`${option}\` can't be read: reading it threw "TypeError: boom". Write its value, or a getter that does not throw.`,
    );
  });
});

test('what is no error of ours comes through as it is', () => {
  const error = new TypeError('not connected');
  const store = {
    get spend(): never {
      throw error;
    },
  };
  expect(() => inline({ name: 'Requests', store })).toThrow(error);
});

test('a message of an event has one full stop at the end of a reason', () => {
  const events: LimiterEvent[] = [];
  const limiter = limiterOf({
    overrides: () => ({ count: 0.5, period: '1s' }),
    onEvent: (event: LimiterEvent) => events.push(event),
  });
  void limiter.spend([{ limit: 'Orders', id: '7' }]);
  expect(events[0]!.message).toBe(
    'The overrides function failed for limit "Orders" (`overrides(Orders).count` must be a whole number from 1 to 1000000000, but was 0.5. To allow no bursts use burst: 1; for no limit leave the limit out). The limit\'s own numbers were used.',
  );
});
