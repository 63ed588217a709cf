import { createHash } from 'node:crypto';
import { bucketKey } from '@sluice/core/store';
import { describe, expect, test } from 'vitest';

test.each([
  ['12345678', 'Orders:12345678'],
  ['example.com', 'Orders:example.com'],
  ['a_b-C.9', 'Orders:a_b-C.9'],
  ['', 'Orders:'],
  ['2001:db8:7::/48', 'Orders:2001%3Adb8%3A7%3A%3A%2F48'],
  ['{slot}', 'Orders:%7Bslot%7D'],
  ['100%', 'Orders:100%25'],
  ['%3A', 'Orders:%253A'],
  ["!~*'()", 'Orders:%21%7E%2A%27%28%29'],
  ['#', 'Orders:%23'],
  ['é', 'Orders:%C3%A9'],
  ['😀', 'Orders:%F0%9F%98%80'],
  ['a b\n', 'Orders:a%20b%0A'],
])('the bucket of %o is %s', (id, key) => expect(bucketKey('Orders', id)).toBe(key));

test('the key of a bucket with a calendar ends with the name of the calendar, also if the id is hashed', () => {
  expect(bucketKey('Monthly', '7@x', 'month:31:0:Europe/Berlin')).toBe('Monthly:7%40x@month:31:0:Europe/Berlin');
  expect(bucketKey('Monthly', 'x'.repeat(300), 'day:0:0:UTC')).toMatch(/^Monthly:#[0-9a-f]{64}@day:0:0:UTC$/);
});

describe('a key of more than 200 bytes', () => {
  test('has the SHA-256 of the id instead', () => {
    expect(bucketKey('Orders', 'x'.repeat(193))).toBe(`Orders:${'x'.repeat(193)}`);
    expect(bucketKey('Orders', 'x'.repeat(194))).toMatch(/^Orders:#[0-9a-f]{64}$/);
    const id = 'ä'.repeat(80);
    expect(bucketKey('Orders', id)).toBe(`Orders:#${createHash('sha256').update(id, 'utf8').digest('hex')}`);
  });

  test('is counted as it is written, escaped', () => {
    expect(bucketKey('Orders', ':'.repeat(64))).toMatch(/%3A$/);
    expect(bucketKey('Orders', ':'.repeat(65))).toMatch(/^Orders:#/);
  });

  test('differs where the id differs, and where the limit does', () => {
    const long = 'x'.repeat(300);
    const keys = [bucketKey('A', long), bucketKey('B', long), bucketKey('A', `${long}y`), bucketKey('A', `#${long}`)];
    expect(new Set(keys).size).toBe(4);
  });
});
