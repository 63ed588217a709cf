import { describe, expect, it } from 'vitest';
import { sentinelAddress } from '../src/redis/client.ts';

describe('the address of a Sentinel', () => {
  it.each([
    ['sentinel-1.example.com', 'sentinel-1.example.com', 26_379],
    ['10.0.0.1:5000', '10.0.0.1', 5000],
    ['[2001:db8::1]:5000', '2001:db8::1', 5000],
    ['[::1]', '::1', 26_379],
    ['2001:db8::1', '2001:db8::1', 26_379],
  ])('%s is %s, port %s', (text, host, port) => {
    expect(sentinelAddress(text)).toEqual({ host, port });
  });

  it.each(['', ':26379', 'host:', 'host:65536', '[::1', 'host:port'])('can not be %j', (text) => {
    expect(() => sentinelAddress(text)).toThrow('`--sentinel` must be a host with or without a port');
  });
});
