import type { Decided } from '../decision/decided.ts';
import { isIPv6 } from '../ids/address-text.ts';
import type { IdFormat } from '../ids/id-format.ts';
import type { LimitSet } from '../definitions/limit-set.ts';
import { mapKeyOf } from '../store/bucket-key.ts';

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
  /** Whether requests are still inspected. Only {@link look} changes it. */
  isWatching = true;

  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  /** Inspects a request and its decision. */
  look(set: LimitSet<never>, request: ReceivedRequest, decision: Decided): void {
    this.isWatching = ++this.#requests < WATCHED_REQUESTS;
    if (this.#requests === 1 && this.#perRequest.isSuspect(set.limits.keys(), request.server, decision))
      this.#warn(PER_REQUEST);
    if (this.#requests === 2) this.#perRequest.usedAgain();
    // Not its results, which would be made for this.
    for (const { limit, id } of decision.batch) if (id.includes(':')) this.#lookAtId(set, limit, id);
  }

  #lookAtId({ limits }: LimitSet<never>, name: string, id: string): void {
    if (!isIPv6(id) || this.#warned.has(name)) return;
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
    'Use key: clientNetwork(), which limits an IPv4 address or an IPv6 /48 (for a /56 clientNetwork({ ipv6PrefixLength: 56 })), and finds the client behind trustedProxies. ' +
    'For users, and clients that are not logged in: accountId((req) => req.user?.id ?? null).or(clientNetwork()). ' +
    'To limit single addresses on purpose, use key: ipAddress().'
  );
}

/** The number of limiters with one request each that triggers the warning. */
const SUSPECT_LIMITERS = 10;

/** The largest number of sets of limits that are observed. */
const MAX_SUSPICIONS = 100;

/** The evidence that limiters with the same limit names are created for single requests. */
interface Suspicion {
  /** The server whose requests they decided. Tests usually create a server for each limiter. */
  readonly server: WeakRef<object>;
  /** The bucket that each of them used. */
  readonly bucket: string;
  limiters: number;
  /** The value of `moment` when the latest of them decided its first request. */
  latest: number;
}

/** By the names of the limits; `null` after the warning. */
const suspicions = new Map<string, Suspicion | null>();

/** A logical clock, which orders events. */
let moment = 0;

/**
 * Detects limiters that are created inside a request handler. It counts limiters with the same limit names on one
 * server that used the same bucket, each created after the one before had decided its first request; normally, a bucket
 * is used by one limiter. Limiters that were created before the first request are not counted, nor are those of tests
 * with a server for each. When a counted limiter decides a second request (it is kept, for example one per tenant), the
 * count starts again.
 */
class PerRequestDetector {
  readonly #made = ++moment;
  #suspicion: Suspicion | undefined;

  /** Records the limiter's first request. Returns true when the warning is due. */
  isSuspect(limits: Iterable<string>, server: object | undefined, decision: Decided): boolean {
    const [asked] = decision.batch;
    if (server === undefined || asked === undefined) return false;
    const names = [...limits].join();
    const before = suspicions.get(names);
    if (before === null) return false;
    const bucket = mapKeyOf(asked);
    if (before === undefined || before.server.deref() !== server) return this.#begin(names, server, bucket);
    if (before.bucket !== bucket || this.#made < before.latest) return false;
    this.#suspicion = before;
    before.latest = ++moment;
    before.limiters++;
    if (before.limiters < SUSPECT_LIMITERS) return false;
    suspicions.set(names, null);
    return true;
  }

  /** Records a second request: the limiter was not created for a single one. */
  usedAgain(): void {
    if (this.#suspicion !== undefined) this.#suspicion.limiters = 0;
  }

  #begin(names: string, server: object, bucket: string): false {
    if (suspicions.size === MAX_SUSPICIONS && !suspicions.has(names)) return false;
    this.#suspicion = { server: new WeakRef(server), bucket, limiters: 1, latest: ++moment };
    suspicions.set(names, this.#suspicion);
    return false;
  }
}
