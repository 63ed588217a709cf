import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { Definitions } from '../service/envoy-api.ts';

const FILES = [
  'envoy/config/bootstrap/v3/bootstrap.proto',
  'envoy/service/ratelimit/v3/rls.proto',
  'envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.proto',
  'envoy/extensions/filters/http/ratelimit/v3/rate_limit.proto',
  'envoy/extensions/filters/http/router/v3/router.proto',
  'envoy/extensions/upstreams/http/v3/http_protocol_options.proto',
];
const BOOTSTRAP = 'envoy.config.bootstrap.v3.Bootstrap';
const RLS = 'envoy.service.ratelimit.v3';

const envoy = Definitions.ofEnvoy(FILES);
const text = readFileSync(new URL('../../docs/proxies/envoy.yaml', import.meta.url), 'utf8');

test('each field and each value of envoy.yaml has its type in the definitions of Envoy', () => {
  expect(envoy.problems(parse(text), BOOTSTRAP)).toEqual([]);
});

test.each([
  ['failure_mode_deny: false', 'failure_mode: false', 'has no such field'],
  ['timeout: 0.1s', 'timeout: 100ms', 'not a duration'],
  ['transport_api_version: V3', 'transport_api_version: V4', 'is not envoy.config.core.v3.ApiVersion'],
  ['remote_address: {}', 'client_address: {}', 'has no such field'],
  ['http.ratelimit.v3.RateLimit', 'http.ratelimit.v3.Rate', 'is not known'],
  ['port_value: 9091', "port_value: '9091'", 'is not TYPE_UINT32'],
])('a mistake is found: %s as %s', (right, wrong, message) => {
  expect(text).toContain(right);
  expect(envoy.problems(parse(text.replace(right, wrong)), BOOTSTRAP).join('\n')).toContain(message);
});

test('the protocol of our tests has the numbers and types of that of Envoy', () => {
  const ours = Definitions.ours();
  const differences = ['RateLimitRequest', 'RateLimitResponse'].flatMap((type) =>
    ours.differences(`${RLS}.${type}`, envoy, `${RLS}.${type}`),
  );
  // Newer than the files that grpc-js-xds ships.
  const newer = ['hits_addend', 'is_negative_hits'];
  const descriptor = 'envoy.extensions.common.ratelimit.v3.RateLimitDescriptor';
  const week = 'envoy.service.ratelimit.v3.RateLimitResponse.RateLimit.Unit.WEEK';
  expect(differences).toEqual([...newer.map((field) => `${descriptor}.${field} is not there`), week]);
});
