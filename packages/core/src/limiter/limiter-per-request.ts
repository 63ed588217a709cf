import type { IncomingMessage } from 'node:http';
import type { Decision } from '../decision/decision.ts';

/** So many limiters in a row must have decided one request each. */
const SUSPECT_LIMITERS = 10;

/** Of so many sets of limits something is remembered. */
const MAX_SUSPICIONS = 100;

/** What speaks for it that limiters of some limits are made for single requests. */
interface Suspicion {
  /** The server whose requests they decided: tests make a server of their own for each limiter. */
  readonly server: WeakRef<object>;
  /** The bucket that every one of them met when it was full. */
  readonly bucket: string;
  limiters: number;
  /** When the latest of them decided its first request. */
  latest: number;
}

/** By the names of the limits. `null` for those that were warned of. */
const suspicions = new Map<string, Suspicion | null>();

/** A clock that only says what came first. */
let moment = 0;

/**
 * Finds out whether limiters are made inside a request handler. It counts limiters of the same limits on one server, each
 * made after the one before had decided its first request, that met the same bucket: of a limit that limits, a bucket is
 * met by one limiter. Limiters that were made before the first request never count, nor do those of tests, which have a
 * server each. When one of those that were counted decides a second request (it is kept, for a tenant for example), the
 * count begins anew.
 */
export class LimiterBirth {
  readonly #made = ++moment;
  #suspicion: Suspicion | undefined;

  /** Takes notice of the limiter's first request. Says whether it is one too many. */
  isSuspect(limits: Iterable<string>, { socket }: IncomingMessage, { results }: Decision): boolean {
    // Requests of serverless adapters have sockets without a server, or none.
    const server = (socket as { readonly server?: unknown } | undefined)?.server;
    const [result] = results;
    if (typeof server !== 'object' || server === null || result === undefined) return false;
    const names = [...limits].join();
    const before = suspicions.get(names);
    if (before === null) return false;
    const bucket = `${result.limit}:${result.id}`;
    if (before === undefined || before.server.deref() !== server) return this.#begin(names, server, bucket);
    if (before.bucket !== bucket || this.#made < before.latest) return false;
    this.#suspicion = before;
    before.latest = ++moment;
    before.limiters++;
    if (before.limiters < SUSPECT_LIMITERS) return false;
    suspicions.set(names, null);
    return true;
  }

  /** Takes notice of a second request: the limiter is kept. */
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
