import { expect, test } from 'vitest';
import { listeningAt } from '../src/serve/listening.ts';

test('addresses are named with the port that was chosen, and IPv6 in brackets', () => {
  const addresses = { http: { host: '::', port: 0 }, grpc: { path: '/run/sluice.sock' }, metrics: undefined };
  expect(listeningAt(addresses, { http: 4321 })).toEqual([
    ['http', '[::]:4321'],
    ['grpc', 'unix:/run/sluice.sock'],
  ]);
  expect(listeningAt({ grpc: { host: '127.0.0.1', port: 9091 } }, {})).toEqual([['grpc', '127.0.0.1:9091']]);
});
