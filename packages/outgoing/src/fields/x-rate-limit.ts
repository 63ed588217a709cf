import { figuresIn } from './figures.ts';
import type { Dialect } from './lesson.ts';

/**
 * `X-RateLimit-*` as it is found: reset is seconds, seconds or milliseconds since 1970, or a date. Discord sends the wait
 * besides, as `X-RateLimit-Reset-After`. X writes `X-Rate-Limit-*`.
 */
export const xRateLimit: Dialect = {
  name: 'X-RateLimit-*',
  read(fields, nowMs) {
    return ['x-ratelimit', 'x-rate-limit'].flatMap((prefix) =>
      figuresIn(
        fields,
        {
          limit: `${prefix}-limit`,
          remaining: `${prefix}-remaining`,
          reset: [`${prefix}-reset-after`, `${prefix}-reset`],
        },
        { of: 'requests', unit: 'requests' },
        nowMs,
      ),
    );
  },
};
