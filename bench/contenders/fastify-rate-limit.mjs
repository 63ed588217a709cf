import LocalStore from '@fastify/rate-limit/store/LocalStore.js';

/**
 * The call that its plugin makes, without the promise that the plugin wraps it in. By itself it holds 5,000 ids; here
 * as many as there are.
 *
 * @type {import('./decider.ts').Contender}
 */
export const fastifyRateLimit = {
  answersAtOnce: true,
  bounded: true,
  decider: ({ rate: { burst, windowMs }, limits, maxKeys }) => {
    const stores = Array.from({ length: limits }, () => new LocalStore(false, false, maxKeys));
    let count = 0;
    /** @type {Parameters<LocalStore['incr']>[1]} */
    const callback = (_error, { current }) => {
      count = current;
    };
    return {
      decide: (id) => {
        for (const store of stores) store.incr(id, callback, windowMs, burst);
        return count;
      },
      allowed: (current) => current <= burst,
    };
  },
};
