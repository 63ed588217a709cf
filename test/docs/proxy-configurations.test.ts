import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { expect, test } from 'vitest';

const fileOf = (name: string): unknown =>
  parse(readFileSync(new URL(`../../docs/proxies/${name}`, import.meta.url), 'utf8'));
const tables = fileOf('tables.yaml') as { readonly http: object; readonly envoy: Readonly<Record<string, Table>> };

interface Table {
  readonly rules: readonly { readonly descriptor: readonly unknown[] }[];
}

/** All keys of objects, at any depth. */
function keysOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(keysOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...keysOf(inner)]);
}

/** The values of a key, at any depth. */
function valuesOf(value: unknown, key: string): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap((each) => valuesOf(each, key));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [...(name === key ? [inner] : []), ...valuesOf(inner, key)]);
}

// Traefik and Envoy do not run in these tests. Names are compared with lists that were made from their documentation.
const TRAEFIK = [
  ['http', 'middlewares', 'routers', 'services', 'forwardAuth', 'address', 'trustForwardHeader'],
  ['rule', 'service', 'loadBalancer', 'servers', 'url'],
].flat();
const ENVOY = [
  ['static_resources', 'listeners', 'clusters', 'address', 'socket_address', 'port_value', 'filter_chains', 'filters'],
  ['name', 'typed_config', '@type', 'stat_prefix', 'use_remote_address', 'http_filters', 'route_config'],
  ['domain', 'timeout', 'failure_mode_deny', 'rate_limit_service', 'transport_api_version', 'grpc_service'],
  ['envoy_grpc', 'cluster_name', 'virtual_hosts', 'domains', 'routes', 'match', 'prefix', 'route', 'cluster'],
  ['rate_limits', 'actions', 'remote_address', 'type', 'typed_extension_protocol_options', 'explicit_http_config'],
  ['envoy.extensions.upstreams.http.v3.HttpProtocolOptions', 'http2_protocol_options', 'health_checks', 'interval'],
  ['unhealthy_threshold', 'healthy_threshold', 'grpc_health_check', 'load_assignment', 'endpoints', 'lb_endpoints'],
  ['endpoint'],
].flat();
/** Names that their users choose. */
const CHOSEN = ['sluice', 'app'];

test.each([
  ['traefik.yaml', TRAEFIK],
  ['envoy.yaml', ENVOY],
])('%s has only fields that its proxy documents', (name, documented) => {
  const known = new Set([...documented, ...CHOSEN]);
  expect(keysOf(fileOf(name)).filter((key) => !known.has(key))).toEqual([]);
});

test('Traefik asks for a table of tables.yaml', () => {
  const [address] = valuesOf(fileOf('traefik.yaml'), 'address');
  const { port, pathname } = new URL(String(address));
  expect([port, Object.keys(tables.http).map((name) => `/check/${name}`)]).toEqual([
    '9090',
    expect.arrayContaining([pathname]),
  ]);
});

test('Envoy sends the domain and a descriptor of tables.yaml, and its clusters are defined', () => {
  const envoy = fileOf('envoy.yaml');
  const [domain] = valuesOf(envoy, 'domain');
  const [actions] = valuesOf(envoy, 'actions') as [readonly object[]];
  const sent = actions.flatMap(Object.keys);
  expect(tables.envoy[String(domain)]!.rules.map(({ descriptor }) => descriptor)).toContainEqual(sent);
  const defined = (valuesOf(envoy, 'clusters')[0] as readonly { readonly name: string }[]).map(({ name }) => name);
  expect(defined).toEqual(expect.arrayContaining([...valuesOf(envoy, 'cluster'), ...valuesOf(envoy, 'cluster_name')]));
  expect(valuesOf(envoy, 'port_value')).toContain(9091);
});
