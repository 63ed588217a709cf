// Prints what one request does on each of the paths that are pinned.
import { accountId, clientNetwork, createLimiter } from '@sluice/core';
import { rateLimit, type RateLimitOptions } from '@sluice/express';
import { redisStore } from '@sluice/redis';
import express from 'express5';
import { once } from 'node:events';
import { Agent, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { realDelay } from '../../real-delay.ts';
import { countedIn, type Counted } from './counted.ts';

/** Its bucket is never full again, so that it stays where it is. */
const RATE = { burst: 1_000_000, count: 1000, period: '1h' } as const;
const key = clientNetwork();

/** Counts one request to an Express server with a limiter. */
async function overExpress(options: RateLimitOptions): Promise<Counted> {
  const app = express();
  app.use(rateLimit(options));
  app.get('/', (_req, res) => void res.end('ok'));
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const counted = await countedIn((done) => {
    get({ port, host: '127.0.0.1', agent }, (response) => {
      if (response.statusCode !== 200) throw new Error(`The answer was ${response.statusCode}.`);
      // The server may still have something to do.
      response.resume().once('end', () => void realDelay(10).then(done));
    });
  });
  agent.destroy();
  server.close();
  return counted;
}

const figures: Record<string, Counted> = {};
const [redisUrl] = process.argv.slice(2);
if (redisUrl === undefined) {
  figures['a rate'] = await overExpress({ limiter: createLimiter({ limits: { A: { key, ...RATE } } }) });
  figures['a quota'] = await overExpress({
    limiter: createLimiter({ limits: { A: { key, count: 1_000_000, per: 'month' } } }),
  });
  figures['a slot'] = await overExpress({ limiter: createLimiter({ limits: { A: { key, concurrency: 10 } } }) });
  const limiter = createLimiter({ limits: { A: { key: accountId(), ...RATE } } });
  figures['a rate, without HTTP'] = await countedIn((done) => {
    void limiter.spend([{ limit: 'A', id: 'ann' }]);
    done();
  });
  const handle = limiter.limit('A');
  figures['a rate, by a handle'] = await countedIn((done) => {
    handle.spendSync('ann');
    done();
  });
} else {
  const store = redisStore({ url: redisUrl, log: false });
  await store.ready();
  figures['a rate on Redis'] = await overExpress({
    limiter: createLimiter({ limits: { A: { key, ...RATE } }, store }),
  });
  await store.close();
}
console.log(JSON.stringify(figures));
