import { clientNetwork, createLimiter, ipAddress } from '@sluice/core';
import { expect, test } from 'vitest';
import { flowSettings, limitsStatusOf, runFlow, statusSettings, type Exchange } from '../../src/http/index.ts';
import { IpAddress } from '../../src/ids/ip-address.ts';

const numbers = { count: 5, period: '1m' } as const;
const limiterOf = (options: object = {}) =>
  createLimiter({
    limits: { Address: { key: ipAddress(), ...numbers }, Network: { key: clientNetwork(), ...numbers } },
    log: false,
    ...options,
  });

function exchangeFrom(peer: Exchange<unknown>['peer']) {
  const reads = { peer: 0 };
  const exchange = {
    request: {},
    method: 'GET',
    decision: undefined,
    header: () => undefined,
    getField: () => undefined,
    setField: () => undefined,
    onEnd: () => undefined,
    get peer() {
      reads.peer++;
      return peer;
    },
  } as Exchange<unknown>;
  return { exchange, reads };
}

test('the address of a client is found once for all limits of a middleware', async () => {
  const { exchange, reads } = exchangeFrom(IpAddress.parse('203.0.113.7'));
  expect(
    await runFlow(flowSettings({ limiter: limiterOf(), limits: ['Address', 'Network'] }, []), exchange, []),
  ).toBeNull();
  expect(reads.peer).toBe(1);
});

test('a status is neither an answer nor an error when its client has left', async () => {
  const { exchange } = exchangeFrom('left');
  expect(await limitsStatusOf(statusSettings({ limiter: limiterOf(), limits: ['Address'] }), exchange)).toBe('left');
});

test('a status is an error where the field of a trusted proxy may be missing', async () => {
  const { exchange } = exchangeFrom(IpAddress.parse('203.0.113.7'));
  const statusOf = (options: object) =>
    limitsStatusOf(statusSettings({ limiter: limiterOf(options), limits: ['Address'] }), {
      ...exchange,
      peer: exchange.peer,
      lacksFields: true,
    });
  await expect(statusOf({ trustedProxies: ['private'] })).rejects.toMatchObject({ code: 'ERR_TOO_MANY_FIELDS' });
  expect(await statusOf({})).toMatchObject({ status: 200 });
});
