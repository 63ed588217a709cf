import { isIPv6 } from 'node:net';
import type { Decision } from '../decision/decision.ts';
import type { IdFormat } from '../ids/id-format.ts';
import type { LimitSet } from '../limits/limit-set.ts';
import { PerRequestDetector } from './per-request-detector.ts';

/** What is used of a request to recognize its server. */
export interface ReceivedRequest {
  /** The server that received the request; left out where it is not known. Compared by identity. */
  readonly server?: object | undefined;
}

/** The number of requests to inspect: mistakes in the setup show early. */
const WATCHED_REQUESTS = 10_000;

/**
 * Inspects the first requests of a limiter, and warns once for each mistake in its setup that makes limits ineffective.
 */
export class SetupWatch {
  readonly #warn: (message: string) => void;
  readonly #perRequest = new PerRequestDetector();
  readonly #warned = new Set<string>();
  #requests = 0;

  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  /** Inspects a request and its decision. */
  look(set: LimitSet<never>, request: ReceivedRequest, decision: Decision): void {
    if (this.#requests === WATCHED_REQUESTS) return;
    this.#requests++;
    if (this.#requests === 1 && this.#perRequest.isSuspect(set.limits.keys(), request.server, decision))
      this.#warn(PER_REQUEST);
    if (this.#requests === 2) this.#perRequest.usedAgain();
    for (const { limit, id } of decision.results) this.#lookAtId(set, limit, id);
  }

  #lookAtId({ limits }: LimitSet<never>, name: string, id: string): void {
    if (!id.includes(':') || !isIPv6(id) || this.#warned.has(name)) return;
    const limit = limits.get(name);
    if (limit === undefined || hasAddresses(limit.key.format)) return;
    this.#warned.add(name);
    this.#warn(addressIds(name));
  }
}

/** Whether the ids of a format are declared as addresses, or are compound ids, whose parts are joined with `:`. */
function hasAddresses({ name, prefixLengths }: IdFormat): boolean {
  return prefixLengths !== undefined || name.includes(':');
}

const PER_REQUEST =
  'A new limiter seems to be made for each request: several of the same limits decided one request each, of the same client. ' +
  'Each starts with full buckets, so nothing is limited. ' +
  'Call createLimiter and rateLimit once, outside of the request handler: const limit = rateLimit({ … }); app.use(limit).';

function addressIds(name: string): string {
  return (
    `The ids of limit "${name}" are IPv6 addresses. An IPv6 client can take a new address, and with it a full bucket, for each request. ` +
    'Use key: clientNetwork(), which limits an IPv4 address or an IPv6 /48, and finds the client behind trustedProxies. ' +
    'For users, and clients that are not logged in: accountId((req) => req.user?.id ?? null).or(clientNetwork()). ' +
    'To limit single addresses on purpose, use key: ipAddress().'
  );
}
