import { createCluster, createSentinel } from 'redis';
import { expect, test } from 'vitest';
import { clusterOptionsOf, sentinelOptionsOf } from '../../src/node-redis/private-names.ts';

test('node-redis 6 still has `_options` of a cluster: see private-names.ts', () => {
  const options = { rootNodes: [{ url: 'redis://127.0.0.1:1' }], defaults: { username: 'app' }, nodeAddressMap: {} };
  expect(clusterOptionsOf(createCluster(options))).toMatchObject(options);
});

const OPTIONS = { name: 'limits', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }], nodeAddressMap: {} };

test('node-redis 6 still passes the options of Sentinels to a constructor in `duplicate`: see private-names.ts', () => {
  const client = createSentinel(OPTIONS);
  expect(sentinelOptionsOf(client)).toMatchObject(OPTIONS);
  // It was not changed: a duplicate is still a client.
  expect(sentinelOptionsOf(client.duplicate({ name: 'other' }))).toMatchObject({ ...OPTIONS, name: 'other' });
});
