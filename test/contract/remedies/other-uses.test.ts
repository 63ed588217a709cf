import { checkLimits, loadLimits } from '@sluice/config';
import { accountId, clientNetwork, createLimiter, IpAddress, memoryStore, type LimiterEvent } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import { redisStore } from '@sluice/redis';
import { describe, expect, test } from 'vitest';
import { inline, limiterOf, messageOf, NUMBERS, testRemedies, type Options } from './remedies.ts';

const spend = (entry: Options) => limiterOf().spend([{ limit: 'Orders', id: '7', ...entry }]);

testRemedies({
  'a limit of a limiter without limits': {
    make: (given) => createLimiter({ limits: {} }).spend([given as never]),
    options: { limit: 'Orders', id: '7' },
    message: "No limit is named 'Orders'. This limiter has no limits: give createLimiter some.",
  },
  'an entry without a limit': {
    make: (given) => limiterOf().spend([given as never]),
    options: { id: '7' },
    message: '`limit` must be the name of a limit, but was undefined. Limits: Orders.',
  },
  'an id as a number': {
    make: spend,
    options: { id: 7 },
    message: '`id` of limit "Orders" must be a string, but was 7. Write id: \'7\'.',
    remedy: "id: '7'",
  },
  'a missing id': {
    make: spend,
    options: { id: undefined },
    message:
      '`id` of limit "Orders" must be a string, but was undefined. Without an id, leave the entry out: all clients without one would share a bucket.',
  },
  'an unknown mode': {
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
  'formats that are not a list': {
    make: (given) => checkLimits({ defaults: () => ({ A: NUMBERS }), ...given }),
    options: { formats: 'domain' },
    message:
      "`formats` must be a list of id formats, or of keys for theirs, but was 'domain'. For example formats: [domain(), fqdnSet()].",
    remedy: 'formats: [domain(), fqdnSet()]',
  },
  'a Redis store without options': {
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
});

test('many unknown options are one error, of which ten are shown', async () => {
  const unknown = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`x${i}`, i]));
  const message = await messageOf(() => memoryStore(unknown));
  expect(message).toContain(
    'It has no option `x9` (its value was 9). It has 2 more unknown options. Options: maxKeys, time.',
  );
  expect(message).not.toContain('`x10`');
});

test('a wrong result of a key function is an error with its remedy', async () => {
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

test('an error of a user’s getter is thrown unchanged', () => {
  const error = new TypeError('not connected');
  const store = {
    get run(): never {
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
    `The overrides function failed for limit "Orders" (\`overrides(Orders).count\` must be a whole number from 1 to 1000000000, but was 0.5. For a fraction multiply count and period by the same number: 5.5 per second are count: 11, period: '2s'). The limit's own numbers were used.`,
  );
});
