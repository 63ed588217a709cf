import { createCluster, createSentinel } from 'redis';
import { createCluster as createCluster5, createSentinel as createSentinel5 } from 'redis5';
import { expect, test } from 'vitest';
import { clusterOptionsOf, sentinelOptionsOf } from '../../src/node-redis/private-names.ts';

test.each([
  { version: 6, create: createCluster },
  { version: 5, create: createCluster5 as unknown as typeof createCluster },
])('node-redis $version still has `_options` of a cluster: see private-names.ts', ({ create }) => {
  const options = { rootNodes: [{ url: 'redis://127.0.0.1:1' }], defaults: { username: 'app' }, nodeAddressMap: {} };
  expect(clusterOptionsOf(create(options))).toMatchObject(options);
});

const OPTIONS = { name: 'limits', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }], nodeAddressMap: {} };

test('node-redis 6 still passes the options of Sentinels to a constructor in `duplicate`: see private-names.ts', () => {
  const client = createSentinel(OPTIONS);
  expect(sentinelOptionsOf(client)).toMatchObject(OPTIONS);
  // It was not changed: a duplicate is still a client.
  expect(sentinelOptionsOf(client.duplicate({ name: 'other' }))).toMatchObject({ ...OPTIONS, name: 'other' });
});

test('node-redis 5 still hides the options of Sentinels', () => {
  expect(sentinelOptionsOf(createSentinel5(OPTIONS))).toBeUndefined();
});
