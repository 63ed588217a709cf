import type { Dialect } from './dialect.ts';
import { appendQuotaPolicies, singleFigures, staysStricter } from './single-figures.ts';

/** draft-ietf-httpapi-ratelimit-headers-07: the figures of the strictest limit in one field. */
export const draft7: Dialect = {
  names: ['RateLimit', 'RateLimit-Policy'],
  write(decision, fields, { retryAfter }) {
    const present = fields.getField('RateLimit');
    // The field contains a dialect with names: two dialects in one field would be unreadable.
    if (present !== undefined && String(present).includes('"')) return;
    appendQuotaPolicies(decision, fields);
    if (staysStricter(decision, /remaining=([0-9]+)/.exec(String(present))?.[1])) return;
    const { burst, remaining, resetSeconds } = singleFigures(decision, retryAfter);
    fields.setField('RateLimit', `limit=${burst}, remaining=${remaining}, reset=${resetSeconds}`);
  },
};
