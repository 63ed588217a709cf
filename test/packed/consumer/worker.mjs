// A Worker without `nodejs_compat`: it has Web APIs alone, and no random numbers, timers or clock while it is loaded.
import { clientNetwork, createLimiter, everyone } from '@sluice/core';

const limiter = createLimiter({
  limits: {
    Orders: { key: clientNetwork(), count: 2, period: '1m' },
    Monthly: { key: everyone(), count: 3, per: 'month' },
    Slots: { key: everyone(), concurrency: 1 },
  },
});
const entries = [
  { limit: 'Orders', id: '2001:db8::/48', cost: 1 },
  { limit: 'Monthly', id: 'everyone', cost: 1 },
];

export default {
  async test() {
    const outcomes = [];
    for (let i = 0; i < 3; i++) outcomes.push((await limiter.spend(entries)).outcome);
    const held = await limiter.hold([{ limit: 'Slots', id: 'everyone' }]);
    outcomes.push(held.outcome, limiter.checkSync([{ limit: 'Slots', id: 'everyone' }]).outcome);
    if (outcomes.join() !== 'allowed,allowed,denied,allowed,denied') throw new Error(outcomes.join());
  },
};
