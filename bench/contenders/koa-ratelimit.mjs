import Limiter from 'koa-ratelimit/limiter/memory.js';

/**
 * The calls that its middleware makes: it makes a limiter for each request.
 *
 * @type {import('./decider.ts').Contender}
 */
export const koaRatelimit = {
  answersAtOnce: false,
  bounded: false,
  decider: ({ rate: { burst: max, windowMs: duration }, limits }) => {
    const dbs = Array.from({ length: limits }, () => new Map());
    const [db = new Map()] = dbs;
    return {
      decide: limits === 1 ? (id) => new Limiter({ id, db, max, duration }).get() : (id) => last(dbs, id),
      allowed: ({ remaining }) => remaining > 0,
    };

    /**
     * @param {readonly Map<string, any>[]} all
     * @param {string} id
     */
    async function last(all, id) {
      let window;
      // oxlint-disable-next-line no-await-in-loop
      for (const each of all) window = await new Limiter({ id, db: each, max, duration }).get();
      return window;
    }
  },
};
