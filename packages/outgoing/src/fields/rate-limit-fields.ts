import { figuresIn } from './figures.ts';
import type { Dialect } from './lesson.ts';

/** `RateLimit-Remaining` and `RateLimit-Reset`, seconds, of draft-ietf-httpapi-ratelimit-headers-00 to -06. */
export const rateLimitFields: Dialect = {
  name: 'RateLimit-*, drafts 0 to 6',
  read(fields, nowMs) {
    const names = { limit: 'ratelimit-limit', remaining: 'ratelimit-remaining', reset: ['ratelimit-reset'] };
    return figuresIn(fields, names, { of: 'requests', unit: 'requests' }, nowMs);
  },
};
