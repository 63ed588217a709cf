import { SluiceError } from '@sluice/core';
import { systemTime } from '@sluice/core/kit';
import { redisStore, type RedisStoreOptions } from '@sluice/redis';
import { Cluster, Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { checkRedisStoreOptions } from '../src/redis-store.ts';

const url = 'redis://127.0.0.1:1';

function messageFor(options: unknown): string {
  try {
    redisStore(options as RedisStoreOptions);
  } catch (error) {
    if (error instanceof SluiceError) return error.message;
    throw error;
  }
  throw new Error('it was taken');
}

describe('the options of redisStore', () => {
  test('have defaults', () => {
    expect(checkRedisStoreOptions({ url })).toEqual({
      connection: { client: undefined, url },
      prefix: 'sluice:',
      hashTag: undefined,
      rememberDenialsMs: 1000,
      onEvent: undefined,
      log: undefined,
      time: systemTime,
    });
  });

  test('take a client instead of a URL', () => {
    const client = new Redis({ lazyConnect: true });
    expect(checkRedisStoreOptions({ client }).connection).toEqual({ client, url: undefined });
  });

  test.each(['', 'a', 'shop:limits/', 'x'.repeat(64)])('take the prefix %j', (prefix) => {
    expect(checkRedisStoreOptions({ url, prefix }).prefix).toBe(prefix);
  });

  test.each([['id'], ['shop'], [() => 'x']])('take the hash tag %s', (hashTag) => {
    expect(checkRedisStoreOptions({ url, hashTag }).hashTag).toBe(hashTag);
  });

  test.each([
    [undefined, '`redisStore` must be an object, but was undefined.'],
    [{}, '`client` or `url` must be given, but neither was.'],
    [
      { url, client: new Redis({ lazyConnect: true }) },
      '`client` or `url` must be given, but both were. Leave one out.',
    ],
    [
      { url, prefix: 'a{b}' },
      "`prefix` must be up to 64 letters, digits and `. _ : / -`, but was 'a{b}'. For example prefix: 'shop:limits:'. To keep keys in one slot, use `hashTag` instead of braces.",
    ],
    [{ url, prefix: 'x'.repeat(65) }, '`prefix` must be'],
    [{ url, prefix: 7 }, '`prefix` must be'],
    [
      { url, hashTag: '' },
      "`hashTag` must be 'id', a text that is not empty, or a function of the bucket, but was ''. For example hashTag: 'id', or hashTag: ({ id }) => tenants.get(id).",
    ],
    [{ url, hashTag: '\uD800' }, '`hashTag` must be'],
    [{ url, hashTag: true }, '`hashTag` must be'],
    [{ url, rememberDenialsMs: 1001 }, '`rememberDenialsMs` must be a whole number from 0 to 1000, but was 1001.'],
    [{ url, rememberDenialsMs: '1s' }, '`rememberDenialsMs` must be a whole number from 0 to 1000'],
    [{ url, onEvent: 'log' }, '`onEvent` must be a function'],
    [{ url, log: true }, '`log` must be a function of a line, or false'],
    [{ url, time: Date }, '`time` must be an object with the methods nowMicros, wallNow, alarm, endOfTurn, but was'],
    [{ client: {} }, '`client` must be'],
    [
      { url: new URL(url) },
      "`url` must be text, but was 'object'. For example url: 'redis://127.0.0.1:6379'. Of a URL object, give its `href`.",
    ],
    [{ url: 'http://u:secret@h' }, '`url` must be a URL that begins with redis:// or rediss://'],
  ])('reject %o', (options, message) => {
    expect(messageFor(options)).toContain(message);
  });

  test.each([
    ['Redis', () => new Redis({ lazyConnect: true, password: 'secret' })],
    ['Cluster', () => new Cluster([], { lazyConnect: true, redisOptions: { password: 'secret' } })],
  ])('reject a %s in their place, and name the option for a client', (_name, clientOf) => {
    expect(messageFor(clientOf())).toBe(
      '`redisStore` must be an object of options, but was a client. Pass the client as redisStore({ client }).',
    );
  });

  test('reject the client of another library in their place, and name the client that is needed', () => {
    // A client of the package redis has its options, and no `isCluster`.
    const client = { options: { password: 'secret' }, duplicate: () => client };
    expect(messageFor(client)).toBe(
      '`redisStore` must be an object of options, but was a client. Pass a client of ioredis, iovalkey or node-redis as redisStore({ client }).',
    );
  });

  test('reject a URL in their place, and do not show its password', () => {
    const message = '`redisStore` must be an object of options, but was text. Pass the URL as redisStore({ url }).';
    expect(messageFor('redis://:hunter2@redis.internal')).toBe(message);
  });

  test('reject those of a connection, and do not show a password', () => {
    const message = messageFor({ host: 'redis.internal', password: 'hunter2' });
    expect(message).toContain(
      'has no option `password`. `password` is an option of the client here: redisStore({ client: new Redis({ password }) }).',
    );
    expect(message).toContain("`host` (its value was 'redis.internal'). `host` is an option of the client here");
    expect(message).not.toContain('hunter2');
  });

  test.each([
    ['storeClient', '`storeClient` is `client` here'],
    ['redis', '`redis` is `client` here'],
    ['db', '`db` is `client` here'],
    ['sendCommand', '`sendCommand` is `client` here'],
    ['keyPrefix', '`keyPrefix` is `prefix` here'],
    ['nameSpace', '`nameSpace` is `prefix` here'],
    ['inMemoryBlockOnConsumed', '`inMemoryBlockOnConsumed` is `rememberDenialsMs` here'],
    ['insuranceLimiter', '`insuranceLimiter` belongs to the limiter here'],
    ['deadlineMs', '`deadlineMs` belongs to the limiter here'],
    ['rejectIfRedisNotReady', '`rejectIfRedisNotReady` has no counterpart'],
    ['prefx', 'Did you mean `prefix`?'],
  ])('point from `%s` to what is meant', (name, hint) => {
    expect(messageFor({ url, [name]: 1 })).toContain(hint);
  });
});
