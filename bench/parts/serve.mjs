import { joined } from '../harness/joined.mjs';
import { checks } from '../serve/checks.mjs';
import { leased } from '../serve/leased.mjs';
import { CONNECTIONS } from '../serve/server-under-load.mjs';
import { waits } from '../serve/waits.mjs';

/** @type {import('../harness/part.ts').Part} */
export const part = {
  title: `serve: the rate limit service of Envoy, ${CONNECTIONS} connections of HTTP/2`,
  rounds: 5,
  turns: ({ quick }) => (quick ? 2 : 10),
  ...joined([checks, waits, leased]),
};
