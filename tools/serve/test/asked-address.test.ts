import { IpAddress } from '@sluice/core';
import { expect, test } from 'vitest';
import { askedAddressFinder } from '../src/check/asked-address.ts';
import { MisconfiguredProxy } from '../src/check/misconfigured-proxy.ts';

const peer = IpAddress.parse('127.0.0.1');

/** The address in a field of a request that comes from a proxy on the loopback. */
function found(fields: Readonly<Record<string, string>>, addressHeader?: string) {
  const events: string[] = [];
  const find = askedAddressFinder({
    trustedProxies: ['loopback'],
    addressHeader,
    emit: (message) => events.push(message),
  });
  return { events, find: () => find({ peer, header: (name) => fields[name] }).text };
}

test.each([
  [undefined, { 'x-forwarded-for': '203.0.113.7' }],
  ['X-Real-IP', { 'x-real-ip': '203.0.113.7', 'x-forwarded-for': '198.51.100.1' }],
  ['Forwarded', { forwarded: 'for=203.0.113.7' }],
])('the address is read from the field %s and no other', (addressHeader, fields) => {
  expect(found(fields as never, addressHeader).find()).toBe('203.0.113.7');
});

test.each([
  [undefined, 'X-Forwarded-For', '$remote_addr'],
  ['x-real-ip', 'x-real-ip', '$remote_addr'],
  ['forwarded', 'forwarded', '"for=$remote_addr"'],
])('a missing field is a mistake of the proxy, which names the field: %s', (addressHeader, shown, value) => {
  const { find } = found({}, addressHeader);
  expect(find).toThrow(MisconfiguredProxy);
  expect(find).toThrow(`sends no ${shown}`);
  expect(find).toThrow(`proxy_set_header ${shown} ${value};`);
});

test.each(['unknown', 'localhost', '203.0.113.7, 203.0.113.8'])(
  'a field without an address denies the request with an event, and never is the address of the proxy: %s',
  (text) => {
    const { find, events } = found({ 'x-real-ip': text }, 'x-real-ip');
    expect(find).toThrow(expect.objectContaining({ code: 'ERR_ID' }));
    expect(events).toEqual([expect.stringContaining('sends a field x-real-ip that has no address of a client')]);
  },
);
