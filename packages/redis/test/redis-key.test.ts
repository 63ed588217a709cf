import { redisKey } from '@sluice/redis';
import { describe, expect, it } from 'vitest';
import { thrown } from '../../core/test/support/thrown.ts';

describe('redisKey', () => {
  const bucket = { limit: 'Orders', id: '12345678' };

  it('returns the key of a bucket and its slot, by the prefix and the hash tag of the store', () => {
    expect(redisKey(bucket)).toEqual({ key: 'sluice:Orders:12345678', slot: expect.any(Number) as number });
    expect(redisKey(bucket, { prefix: 'shop:', hashTag: 'id' }).key).toBe('shop:Orders:{12345678}');
    expect(redisKey({ ...bucket, calendar: 'month/UTC' }).key).toBe('sluice:Orders:12345678@month/UTC');
  });

  it('has the slot that CLUSTER KEYSLOT returns', () => {
    // From the Redis Cluster specification: the CRC-16 of "123456789" is 0x31C3.
    expect(redisKey(bucket, { hashTag: '123456789' }).slot).toBe(0x31c3 % 16_384);
  });

  it('rejects options that the store rejects', () => {
    expect(thrown(() => redisKey(bucket, { prefix: 'a b' })).code).toBe('ERR_OPTION');
    expect(thrown(() => redisKey(bucket, { url: 'x', prefx: 'a' } as never)).code).toBe('ERR_UNKNOWN_OPTION');
  });
});
