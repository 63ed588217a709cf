import { expect, test } from 'vitest';
import { ConnectClient } from '../../../test/service/connect.ts';
import { served } from '../../../test/service/served.ts';

const RLS = 'envoy.service.ratelimit.v3.RateLimitService';
const CHECK = `${RLS}/ShouldRateLimit`;
const HEALTH = 'grpc.health.v1.Health/Check';

const LIMITS = 'PerClient: { burst: 2, count: 1, period: 1s, idFormat: clientNetwork }';
const TABLES = 'envoy: { ingress: { rules: [{ descriptor: [remote_address], limit: PerClient }] } }';

const REQUEST = {
  domain: 'ingress',
  descriptors: [{ entries: [{ key: 'remote_address', value: '203.0.113.7' }] }],
};

async function ingress(options = {}) {
  const all = await served(LIMITS, TABLES, options);
  return { ...all, client: new ConnectClient(all.servers.ports.grpc) };
}

test('connect reads an allowed request: its status, its fields and its metadata', async () => {
  const { client } = await ingress();
  const { message, header, trailer } = await client.call(CHECK, REQUEST);
  expect(message).toEqual({
    overallCode: 'OK',
    statuses: [
      {
        code: 'OK',
        currentLimit: { requestsPerUnit: 1, unit: 'SECOND', name: 'PerClient' },
        limitRemaining: 1,
        durationUntilReset: '1s',
      },
    ],
    responseHeadersToAdd: [
      { key: 'RateLimit-Policy', value: '"PerClient";q=2;w=2' },
      { key: 'RateLimit', value: '"PerClient";r=1;t=1' },
    ],
    dynamicMetadata: { limit: 'PerClient', remaining: 1, retry_after_ms: 0 },
  });
  expect([header.get('content-type'), header.get('date')]).toEqual(['application/grpc', null]);
  expect(trailer.get('grpc-status')).toBe('0');
});

test('connect reads a denied request: the wait, the body and Retry-After', async () => {
  const { client, time } = await ingress();
  await client.call(CHECK, { ...REQUEST, hitsAddend: 2 });
  time.advance(250);
  const { message } = await client.call(CHECK, REQUEST);
  expect(message).toMatchObject({
    overallCode: 'OVER_LIMIT',
    statuses: [{ code: 'OVER_LIMIT', durationUntilReset: '0.750s' }],
    responseHeadersToAdd: expect.arrayContaining([{ key: 'Retry-After', value: '1' }]) as unknown,
    dynamicMetadata: { limit: 'PerClient', retry_after_ms: 750, violated_policies: ['PerClient'] },
  });
  expect(JSON.parse(Buffer.from(message['rawBody'] as string, 'base64').toString())).toMatchObject({ status: 429 });
});

test('connect writes addends of descriptors and hits that are given back, which are followed', async () => {
  const { client } = await ingress();
  const [descriptor] = REQUEST.descriptors;
  const remaining = async (more: object): Promise<unknown> => {
    const { message } = await client.call(CHECK, { ...REQUEST, descriptors: [{ ...descriptor, ...more }] });
    const [status] = message['statuses'] as readonly { readonly limitRemaining?: number }[];
    return status!.limitRemaining ?? 0;
  };
  expect(await remaining({ hitsAddend: 2n })).toBe(0);
  expect(await remaining({ hitsAddend: 1n, isNegativeHits: true })).toBe(1);
  expect(await remaining({ hitsAddend: 0n })).toBe(1);
});

test('connect sees SERVING, and NOT_SERVING while the service drains', async () => {
  const { client, service } = await ingress();
  expect((await client.call(HEALTH, { service: RLS })).message).toEqual({ status: 'SERVING' });
  service.drain();
  expect((await client.call(HEALTH, {})).message).toEqual({ status: 'NOT_SERVING' });
});

test.each([
  ['a method that is not there', CHECK, REQUEST, { as: 'ReportUsage' }, 'unimplemented', 'There is no such method.'],
  ['a request without a domain', CHECK, { domain: '' }, {}, 'invalid_argument', 'A request must have a domain.'],
  ['health of another service', HEALTH, { service: 'other' }, {}, 'not_found', 'There is no such service.'],
] as const)('connect sees the status of %s', async (_what, path, request, options, code, message) => {
  const { client } = await ingress();
  await expect(client.call(path, request, options)).rejects.toThrow(`[${code}] ${message}`);
});

test('connect sees that a peer is not trusted', async () => {
  const { client } = await ingress({ trustedProxies: ['10.0.0.0/8'] });
  await expect(client.call(CHECK, REQUEST)).rejects.toThrow('[permission_denied]');
});
