// A server of HTTP/2 that is flooded. Its parent starts it with `limited` or `plain`: with the limits of `limitNode` around
// its listener, or without.
import { accountId, createLimiter, everyone } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { limitNode } from '@sluice/node';
import { once } from 'node:events';
import { createServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { realDelay } from '../real-delay.ts';

const [kind = 'limited', collects = 'no'] = process.argv.slice(2);

let handled = 0;

/** Answers at once, later, in parts, or never. */
async function listener(request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
  handled++;
  request.on('error', () => undefined).resume();
  response.on('error', () => undefined);
  const [, way = ''] = request.url.split('/');
  if (way === 'held') return new Promise(() => undefined);
  if (way === 'later') await realDelay(20);
  if (way === 'parts') response.write(Buffer.alloc(100_000));
  response.end('answered');
}

function limited(): (request: Http2ServerRequest, response: Http2ServerResponse) => unknown {
  const limiter = createLimiter({
    limits: {
      Rate: { key: everyone(), burst: 1_000_000, count: 1_000_000, period: '1s' },
      PerAccount: {
        key: accountId((request: Http2ServerRequest) => String(request.headers['x-account'] ?? 'nobody')),
        burst: 200,
        count: 200,
        period: '1s',
      },
      Slots: concurrency({ key: everyone(), concurrency: 100_000 }),
      Queue: { key: everyone(), burst: 2000, count: 2000, period: '1s', maxWait: '100ms' },
    },
    log: false,
  });
  const limit = limitNode({
    limiter: limiter as never,
    limits: ['Rate', 'PerAccount', 'Slots', { limit: 'Queue', settle: () => 0 }] as never,
  });
  return limit<Http2ServerRequest, Http2ServerResponse>(listener);
}

const server = createServer({ maxSessionMemory: 100 }, kind === 'plain' ? listener : (limited() as typeof listener));
server.on('sessionError', () => undefined);
await once(server.listen(0, '127.0.0.1'), 'listening');
// Sessions that are over go earlier then, and in another order.
const { gc } = globalThis;
if (collects === 'yes') setInterval(() => gc?.(), 500);
process.on('disconnect', () => process.exit());
process.on('message', () => process.send!(handled));
process.send!((server.address() as AddressInfo).port);
