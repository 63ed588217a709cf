import { describe, expect, test } from 'vitest';
import { uninspectable } from '../../../core/test/support/uninspectable.ts';
import { BucketKeys, type HashTag } from '../../src/batches/bucket-keys.ts';
import { slotOf } from '../../src/client/slot.ts';

const keysWith = (hashTag?: HashTag): BucketKeys => new BucketKeys({ prefix: 'sluice:', hashTag });
const bucket = (id: string, limit = 'Orders') => ({ limit, id });

describe('the key of a bucket', () => {
  test('is prefix, limit and id', () => {
    expect(keysWith().keyOf(bucket('203.0.113.7'))).toBe('sluice:Orders:203.0.113.7');
  });

  test('keeps no braces and colons of the id, which would choose a slot or another bucket', () => {
    expect(keysWith().keyOf(bucket('{x}:1'))).toBe('sluice:Orders:%7Bx%7D%3A1');
  });

  test('never names a text that is not well-formed: that is the error ERR_ID, and no failure of the store', () => {
    const expected = expect.objectContaining({ code: 'ERR_ID', status: 400 });
    expect(() => keysWith().keyOf(bucket('\uD800'))).toThrow(expected);
    expect(() => keysWith('id').keyOf(bucket('\uD800'))).toThrow(expected);
  });
});

describe('the key of a bucket with a calendar', () => {
  const quota = { ...bucket('7', 'Monthly'), calendar: 'month:31:0:Europe/Berlin' };

  test('has it at the end, after the tag', () => {
    expect(keysWith().keyOf(quota)).toBe('sluice:Monthly:7@month:31:0:Europe/Berlin');
    expect(keysWith('id').keyOf(quota)).toBe('sluice:Monthly:{7}@month:31:0:Europe/Berlin');
    expect(keysWith('all').keyOf(quota)).toBe('sluice:{all}:Monthly:7@month:31:0:Europe/Berlin');
    expect(keysWith(({ id }) => `tenant ${id}`).keyOf(quota)).toBe(
      'sluice:{tenant%207}:Monthly:7@month:31:0:Europe/Berlin',
    );
  });

  test('is in the slot of the other buckets of its id', () => {
    expect(slotOf(keysWith('id').keyOf(quota))).toBe(slotOf(keysWith('id').keyOf(bucket('7'))));
  });

  test('passes the plain name and id to a function', () => {
    const seen: object[] = [];
    keysWith((one) => void seen.push(one)).keyOf(quota);
    expect(seen).toEqual([{ limit: 'Monthly', id: '7' }]);
  });
});

describe('the key of a bucket of slots', () => {
  const slots = { ...bucket('7', 'InFlight'), slots: true } as const;

  test('ends with the word, after the tag', () => {
    expect(keysWith().keyOf(slots)).toBe('sluice:InFlight:7@slots');
    expect(keysWith('id').keyOf(slots)).toBe('sluice:InFlight:{7}@slots');
    expect(keysWith('all').keyOf(slots)).toBe('sluice:{all}:InFlight:7@slots');
  });
});

describe("the hash tag 'id'", () => {
  test('is put around the id', () => {
    expect(keysWith('id').keyOf(bucket('7'))).toBe('sluice:Orders:{7}');
  });

  test.each(['7', '{}', '}7{', '{', 'é', 'x'.repeat(190), 'x'.repeat(500)])(
    'puts all buckets of %j into one slot',
    (id) => {
      const slots = ['A', 'Orders', 'L'.repeat(64)].map((limit) => slotOf(keysWith('id').keyOf(bucket(id, limit))));
      expect(new Set(slots).size).toBe(1);
    },
  );

  test('keeps ids apart', () => {
    expect(keysWith('id').keyOf(bucket('7'))).not.toBe(keysWith('id').keyOf(bucket('8')));
  });
});

describe('a hash tag of one text', () => {
  test('is the beginning of all keys', () => {
    expect(keysWith('shop').keyOf(bucket('7'))).toBe('sluice:{shop}:Orders:7');
  });

  test('is escaped', () => {
    expect(keysWith('a}b').keyOf(bucket('7'))).toBe('sluice:{a%7Db}:Orders:7');
  });
});

describe('a hash tag by a function', () => {
  test('is put before the key, escaped, so that no id can end it', () => {
    const keys = keysWith(({ id }) => id.slice(0, 3));
    expect(keys.keyOf(bucket('a}{b'))).toBe('sluice:{a%7D%7B}:Orders:a%7D%7Bb');
  });

  test('is left out where the function gives undefined', () => {
    expect(keysWith(() => undefined).keyOf(bucket('7'))).toBe('sluice:Orders:7');
  });

  test('never gives a bucket the key of another', () => {
    const keys = keysWith(({ id }) => (id === '' ? undefined : id));
    const all = ['', '7', '{7}', '{7}:Orders:7'].map((id) => keys.keyOf(bucket(id)));
    expect(new Set(all).size).toBe(all.length);
  });

  test('that throws is an error of its own, which names the limit and never counts as an outage', () => {
    const keys = keysWith(({ id }) => new URL(`http://${id}`).hostname);
    expect(keys.keyOf(bucket('a.b'))).toBe('sluice:{a.b}:Orders:a.b');
    expect(() => keys.keyOf(bucket('::1'))).toThrow(
      expect.objectContaining({
        code: 'ERR_OPTION',
        message: expect.stringMatching(/^The function `hashTag` threw for a bucket of limit "Orders" \(TypeError: /),
        cause: expect.any(TypeError),
      }),
    );
  });

  test('that throws what can not be inspected is the same error', () => {
    const keys = keysWith(() => {
      throw uninspectable();
    });
    expect(() => keys.keyOf(bucket('7'))).toThrow('The function `hashTag` threw for a bucket of limit "Orders" ({}).');
  });

  test.each<unknown>(['', 7, null, {}, '\uD800'])('must not give %j', (tag) => {
    const keys = keysWith((() => tag) as () => string);
    expect(() => keys.keyOf(bucket('7'))).toThrow(expect.objectContaining({ code: 'ERR_OPTION' }));
  });
});
