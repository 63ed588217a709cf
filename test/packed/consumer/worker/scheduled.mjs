// A scheduler in a Durable Object, whose timers last beyond the requests that set them.
import { createLimiter, everyone } from '@sluice/core';
import { createScheduler } from '@sluice/core/scheduler';
import { DurableObject } from 'cloudflare:workers';

const time = {
  nowMicros: () => Date.now() * 1000,
  wallNow: () => Date.now(),
  alarm(delayMs, run) {
    const timer = setTimeout(() => run(), delayMs);
    return { ref() {}, unref() {}, cancel: () => clearTimeout(timer) };
  },
  endOfTurn(run) {
    const timer = setTimeout(() => run(), 0);
    return () => clearTimeout(timer);
  },
};
const limits = { Api: { key: everyone(), burst: 1, count: 10, period: '1s' } };
const api = [{ limit: 'Api', id: 'everyone' }];

export class Calls extends DurableObject {
  #scheduler = createScheduler(createLimiter({ limits, time, log: false }));

  async fetch({ url, signal }) {
    const { size, running } = this.#scheduler;
    if (new URL(url).pathname === '/left') return Response.json([size, running]);
    // Its answer is one of another service, which belongs to the request.
    const call = async () => (await this.env.service.fetch('http://service')).text();
    return new Response(await this.#scheduler.run(api, call, { signal }));
  }
}

export default {
  async fetch(request, env) {
    if (new URL(request.url).pathname !== '/module') return env.CALLS.getByName('one').fetch(request);
    try {
      createScheduler(createLimiter({ limits }));
      return new Response('no error');
    } catch ({ code }) {
      return new Response(code);
    }
  },
};
