import { joined } from '../harness/joined.mjs';
import { checks } from '../serve/checks.mjs';
import { leased } from '../serve/leased.mjs';
import { CONNECTIONS } from '../serve/server-under-load.mjs';
import { waits } from '../serve/waits.mjs';

/** @type {import('../harness/part.ts').Part} */
export const part = {
  title: `serve: the rate limit service of Envoy, ${CONNECTIONS} connections of HTTP/2`,
  rounds: 5,
  turns: ({ quick }) => (quick ? 1 : 10),
  // A bucket is synced 175 to 200 ms after its last sync. One call syncs all that are due within 25 ms.
  counts: {
    cases: ['checks', 'leases of 250 ids'],
    figures: { callBytes: 0.05, writesPerInterval: { atMost: 1.5 }, callsPerInterval: { atMost: 8 } },
  },
  ...joined([checks, waits, leased]),
};
