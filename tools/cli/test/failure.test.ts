import { PassThrough } from 'node:stream';
import { SluiceError } from '@sluice/core';
import { expect, it } from 'vitest';
import { reported } from '../src/console/failure.ts';
import { Terminal } from '../src/console/terminal.ts';

it('the hint of a node of a cluster names the flag, not the client of ioredis', () => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const terminal = new Terminal({ stdin, stdout, stderr, env: {} }, new AbortController().signal);
  const message =
    'This is a node of a Redis Cluster. Pass a `Cluster` of ioredis or iovalkey, or `createCluster(…)` of node-redis, as `client`.';
  expect(reported(new SluiceError('ERR_STORE_UNAVAILABLE', message), terminal, 'peek')).toBe(2);
  expect(String(stderr.read())).toBe(
    'error: This is a node of a Redis Cluster. Add --cluster. (ERR_STORE_UNAVAILABLE)\n',
  );
});
