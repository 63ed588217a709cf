import type { Dialect } from './dialect.ts';
import { appendQuotaPolicies, singleFigures, staysStricter } from './single-figures.ts';

/** draft-ietf-httpapi-ratelimit-headers-06: the figures of the strictest limit, each in a field. */
export const draft6: Dialect = {
  names: ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Policy'],
  write(decision, fields, { retryAfter }) {
    appendQuotaPolicies(decision, fields);
    if (staysStricter(decision, fields.getField('RateLimit-Remaining'))) return;
    const { burst, remaining, resetSeconds } = singleFigures(decision, retryAfter);
    fields.setField('RateLimit-Limit', String(burst));
    fields.setField('RateLimit-Remaining', String(remaining));
    fields.setField('RateLimit-Reset', String(resetSeconds));
  },
};
