import { SluiceError } from '@sluice/core';
import { redisStore, type RedisStoreOptions } from '@sluice/redis';
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { checkRedisStoreOptions } from '../src/store-options.ts';

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
    [{ client: {} }, '`client` must be'],
    [
      { url: new URL(url) },
      "`url` must be text, but was 'object'. For example url: 'redis://127.0.0.1:6379'. Of a URL object, give its `href`.",
    ],
    [{ url: 'http://u:secret@h' }, '`url` must be a URL that begins with redis:// or rediss://'],
  ])('refuse %o', (options, message) => {
    expect(messageFor(options)).toContain(message);
  });

  test.each([
    ['storeClient', '`storeClient` is `client` here'],
    ['redis', '`redis` is `client` here'],
    ['db', '`db` is `client` here'],
    ['sendCommand', '`sendCommand` is `client` here'],
    ['keyPrefix', '`keyPrefix` is `prefix` here'],
    ['nameSpace', '`nameSpace` is `prefix` here'],
    ['inMemoryBlockOnConsumed', '`inMemoryBlockOnConsumed` is `rememberDenialsMs` here'],
    ['insuranceLimiter', '`insuranceLimiter` is a matter of the limiter here'],
    ['deadlineMs', '`deadlineMs` is a matter of the limiter here'],
    ['rejectIfRedisNotReady', '`rejectIfRedisNotReady` has no counterpart'],
    ['prefx', 'Did you mean `prefix`?'],
  ])('point from `%s` to what is meant', (name, hint) => {
    expect(messageFor({ url, [name]: 1 })).toContain(hint);
  });
});
