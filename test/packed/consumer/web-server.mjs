// A server of Bun or of Deno, which `limitFetch` limits by the address of its clients: to four requests, one at a time.
// The program is also the client. It prints the statuses, and whether responses were finished.
import { clientNetwork, createLimiter } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { limitFetch } from '@sluice/fetch';

const { Bun, Deno } = globalThis;
const isBun = Bun !== undefined;
const limits = {
  Slots: concurrency({ key: clientNetwork(), concurrency: 1 }),
  Requests: { key: clientNetwork(), burst: 4, count: 4, period: '1h' },
};
const finished = { '/slow': Promise.withResolvers(), '/endless': Promise.withResolvers() };
const [hasBegun, mayEnd] = [Promise.withResolvers(), Promise.withResolvers()];

function settle(request, _response, end) {
  finished[pathOf(request)]?.resolve(end.finished);
  return 1;
}

const limit = limitFetch({
  limiter: createLimiter({ limits, log: false }),
  limits: ['Slots', { limit: 'Requests', settle, settleAborted: true }],
  address: (request, given) => (isBun ? given.requestIP(request)?.address : given.remoteAddr.hostname),
});
const handler = limit(async (request) => {
  if (pathOf(request) === '/endless') return new Response(new ReadableStream({ start: sendByte }));
  if (pathOf(request) === '/slow') {
    hasBegun.resolve();
    await mayEnd.promise;
  }
  return new Response('hello');
});

const where = { port: 0, hostname: '127.0.0.1' };
const port = isBun
  ? Bun.serve({ ...where, fetch: handler }).port
  : Deno.serve({ ...where, onListen() {} }, handler).addr.port;
const url = `http://127.0.0.1:${port}`;

const slow = statusOf('/slow');
await hasBegun.promise;
const beside = await statusOf('/');
mayEnd.resolve();
const statuses = [await slow, beside];
const slowFinished = await finished['/slow'].promise;

const leaving = new AbortController();
const endless = await fetch(`${url}/endless`, { signal: leaving.signal });
await endless.body.getReader().read();
leaving.abort();
const endlessFinished = await finished['/endless'].promise;

for (let i = 0; i < 3; i++) statuses.push(await statusOf('/'));
console.log(JSON.stringify({ statuses, slowFinished, endlessFinished }));
process.exit();

function pathOf(request) {
  return new URL(request.url).pathname;
}

function sendByte(controller) {
  controller.enqueue(new Uint8Array(1));
}

async function statusOf(path) {
  const { status } = await fetch(url + path);
  return status;
}
