import { RateLimiterMemory, RateLimiterUnion } from 'rate-limiter-flexible';

/**
 * Its public call. Several limits are its union, which asks all of them.
 *
 * @type {import('./decider.ts').Contender}
 */
export const rateLimiterFlexible = {
  answersAtOnce: false,
  bounded: false,
  decider: ({ rate, limits }) => {
    const limiters = Array.from({ length: limits }, (_, i) => limiterOf(rate, `limit${i}`));
    const [limiter] = limiters;
    const asked = limits === 1 && limiter !== undefined ? limiter : new RateLimiterUnion(...limiters);
    // It rejects what it denies.
    return { decide: (id) => asked.consume(id), allowed: (answer) => answer !== undefined };
  },
};

/**
 * @param {import('./decider.ts').Rate} rate
 * @param {string} keyPrefix
 */
function limiterOf({ burst, windowMs }, keyPrefix) {
  return new RateLimiterMemory({ points: burst, duration: windowMs / 1000, keyPrefix });
}
