import { SluiceError } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { reachableAddress, redirectOf } from '../../src/servers/redirects.ts';

const answered = (message: string) => new SluiceError('ERR_STORE_UNAVAILABLE', 'x', { cause: new Error(message) });

describe('where a node of a cluster sends a call', () => {
  test.each([
    ['MOVED 866 127.0.0.1:7001', { isForGood: true, slot: 866, address: '127.0.0.1:7001' }],
    ['ASK 16383 redis-2.internal:7001', { isForGood: false, slot: 16_383, address: 'redis-2.internal:7001' }],
    ['MOVED 0 ::1:7001', { isForGood: true, slot: 0, address: '::1:7001' }],
    ['MOVED 0 :7001', { isForGood: true, slot: 0, address: ':7001' }],
    ['MOVED 16384 127.0.0.1:7001', undefined],
    ['MOVED __proto__ 127.0.0.1:7001', undefined],
    ['MOVED 1 127.0.0.1', undefined],
    ['CLUSTERDOWN The cluster is down', undefined],
  ])('%s', (message, redirect) => {
    expect(redirectOf(answered(message))).toEqual(redirect);
  });

  test('nowhere, when it is another error', () => {
    expect(redirectOf(new Error('MOVED 866 127.0.0.1:7001'))).toBeUndefined();
    expect(redirectOf('MOVED')).toBeUndefined();
  });

  test('is reached by the user’s map of addresses, and on its own host when the map lacks it', () => {
    const natMap = { '10.0.0.1:7001': { host: '203.0.113.1', port: 17_001 } };
    expect(reachableAddress('10.0.0.1:7001', 'a', natMap)).toBe('203.0.113.1:17001');
    expect(reachableAddress('10.0.0.2:7001', 'a', natMap)).toBe('10.0.0.2:7001');
    expect(reachableAddress(':7001', '10.0.0.1', natMap)).toBe('203.0.113.1:17001');
    expect(reachableAddress('10.0.0.1:7001', 'a', (address) => ({ host: `nat-${address}`, port: 1 }))).toBe(
      'nat-10.0.0.1:7001:1',
    );
    expect(reachableAddress('10.0.0.1:7001', 'a', () => null)).toBe('10.0.0.1:7001');
    expect(reachableAddress('10.0.0.1:7001', 'a', null)).toBe('10.0.0.1:7001');
    expect(reachableAddress('::1:7001', 'a', null)).toBe('::1:7001');
  });
});
