import { hostStore } from '@sluice/host';
import { afterAll, expect, test } from 'vitest';
import { HostProcess } from '../host/host-process.ts';
import { folder } from '../host/socket-path.ts';
import { expectExactInTurns } from './store-comparison.ts';

const paths = folder();
const server = new HostProcess();
afterAll(async () => {
  await server.kill();
  paths.delete();
});

test('all calls of one turn have the same results in another process as in memory and by the exact rule', async () => {
  const socket = paths.newSocket();
  await server.open(socket);
  const store = hostStore({ socket, log: false });
  await store.ready();
  expect(store.status().role).toBe('asking');
  await expectExactInTurns(store);
  await store.close();
});
