import type { Dialect } from './dialect.ts';
import { singleFigures, staysStricter } from './single-figures.ts';

/**
 * The fields that GitHub and many others use: the figures of the strictest limit, with the reset in seconds since 1970.
 */
export const legacy: Dialect = {
  names: ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'],
  write(decision, fields, { retryAfter, time }) {
    if (staysStricter(decision, fields.getField('X-RateLimit-Remaining'))) return;
    const { burst, remaining, resetSeconds } = singleFigures(decision, retryAfter);
    fields.setField('X-RateLimit-Limit', String(burst));
    fields.setField('X-RateLimit-Remaining', String(remaining));
    fields.setField('X-RateLimit-Reset', String(Math.ceil(time.wallNow() / 1000) + resetSeconds));
  },
};
