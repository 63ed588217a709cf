// Prints how many bytes the middleware allocates for one request, in memory: that of all limits that are pinned.
import { once } from 'node:events';
import { createServer, get, ServerResponse, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LIMITS, middleware } from './paths.ts';

const REQUESTS = 4000;
const WARM_UP = 2;
const RUNS = 7;

const server = createServer().listen(0, '127.0.0.1');
await once(server, 'listening');
const answered = once(get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' }), 'response');
const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
const bytes = Object.entries(LIMITS).map(([name, limits]) => [name, bytesOf(middleware({ limits }))] as const);
response.end();
await answered;
server.close();
console.log(JSON.stringify(Object.fromEntries(bytes)));

/** The median of some runs, between two collections each, of which none falls into a run: see the flags in pins.ts. */
function bytesOf(limit: ReturnType<typeof middleware>): number {
  const runs = Array.from({ length: WARM_UP + RUNS }, () => bytesOfRun(limit)).slice(WARM_UP);
  return runs.toSorted((one, other) => one - other)[(RUNS - 1) / 2]!;
}

function bytesOfRun(limit: ReturnType<typeof middleware>): number {
  const responses = Array.from({ length: REQUESTS }, () => new ServerResponse(request));
  let passed = 0;
  const next = (): void => void passed++;
  globalThis.gc!();
  const before = process.memoryUsage().heapUsed;
  for (const each of responses) {
    Object.assign(request, { rateLimit: undefined });
    limit(request, each, next);
    // As Node does at the end of a response: it releases slots.
    each.emit('close');
  }
  const after = process.memoryUsage().heapUsed;
  if (passed !== REQUESTS) throw new Error(`Of ${REQUESTS} requests ${passed} passed.`);
  return Math.round((after - before) / REQUESTS);
}
