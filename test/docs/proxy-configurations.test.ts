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

// Traefik does not run in these tests. Names are compared with a list that was made from its documentation.
const TRAEFIK = [
  ['http', 'middlewares', 'routers', 'services', 'forwardAuth', 'address', 'trustForwardHeader', 'authRequestHeaders'],
  ['rule', 'service', 'loadBalancer', 'servers', 'url'],
].flat();
/** Names that their users choose. */
const CHOSEN = ['sluice', 'app'];

test.each([['traefik.yaml', TRAEFIK]])('%s has only fields that its proxy documents', (name, documented) => {
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
