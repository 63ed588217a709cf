import { hostStore } from '@sluice/host';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { HostProcess } from '../host/host-process.ts';
import { folder } from '../host/socket-path.ts';
import { atMost } from './runs.ts';
import { bothNumbers, StoreComparison, turns } from './store-comparison.ts';

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
  await fc.assert(
    fc.asyncProperty(bothNumbers, turns, async (numbers, groups) => {
      const comparison = new StoreComparison(store, numbers);
      // oxlint-disable-next-line no-await-in-loop -- one turn after the other
      for (const steps of groups) await comparison.run(steps);
      expect(comparison.said).toEqual(comparison.exact);
    }),
    { numRuns: atMost(300) },
  );
  await store.close();
});
