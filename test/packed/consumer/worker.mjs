// A Worker without `nodejs_compat`: it has Web APIs alone, and no random numbers, timers or clock while it is loaded.
import { clientNetwork, createLimiter, everyone } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { limitFetch } from '@sluice/fetch';
import { rateLimit } from '@sluice/hono';
import { Hono } from 'hono';

const limiter = createLimiter({
  limits: {
    Orders: { key: clientNetwork(), count: 2, period: '1m' },
    Monthly: quota({ key: everyone(), count: 3, per: 'month' }),
    Slots: concurrency({ key: everyone(), concurrency: 1 }),
  },
});
const entries = [
  { limit: 'Orders', id: '2001:db8::/48', cost: 1 },
  { limit: 'Monthly', id: 'everyone', cost: 1 },
];

const one = { count: 1, period: '1h', address: () => '203.0.113.7' };
const handler = limitFetch(one)(() => new Response('hello'));
const app = new Hono().use(rateLimit(one)).get('/', (c) => c.text('hello'));

export default {
  async test() {
    const outcomes = [];
    for (let i = 0; i < 3; i++) outcomes.push((await limiter.spend(entries)).outcome);
    const held = await limiter.spend([{ limit: 'Slots', id: 'everyone' }], { hold: true });
    outcomes.push(held.outcome, limiter.checkSync([{ limit: 'Slots', id: 'everyone' }]).outcome);
    for (const answer of [handler, (request) => app.fetch(request)])
      for (let i = 0; i < 2; i++) outcomes.push((await answer(new Request('http://localhost/'))).status);
    if (outcomes.join() !== 'allowed,allowed,denied,allowed,denied,200,429,200,429') throw new Error(outcomes.join());
  },
};
