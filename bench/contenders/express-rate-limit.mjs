import { MemoryStore } from 'express-rate-limit';

/**
 * The call that its middleware makes. Several limits are several middlewares: each counts, whatever the others say.
 *
 * @type {import('./decider.ts').Contender}
 */
export const expressRateLimit = {
  answersAtOnce: false,
  bounded: false,
  decider: ({ rate, limits }) => {
    const stores = Array.from({ length: limits }, () => storeOf(rate));
    const [store] = stores;
    return {
      decide: limits === 1 && store !== undefined ? (id) => store.increment(id) : (id) => last(stores, id),
      allowed: ({ totalHits }) => totalHits <= rate.burst,
    };
  },
};

/** @param {import('./decider.ts').Rate} rate */
function storeOf({ windowMs }) {
  const store = new MemoryStore();
  store.init(/** @type {import('express-rate-limit').Options} */ ({ windowMs }));
  return store;
}

/**
 * @param {readonly MemoryStore[]} stores
 * @param {string} id
 */
async function last(stores, id) {
  let info;
  // oxlint-disable-next-line no-await-in-loop
  for (const store of stores) info = await store.increment(id);
  return info;
}
