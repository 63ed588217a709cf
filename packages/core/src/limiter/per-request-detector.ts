import type { Decision } from '../decision/decision.ts';

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
export class PerRequestDetector {
  readonly #made = ++moment;
  #suspicion: Suspicion | undefined;

  /** Records the limiter's first request. Returns true when the warning is due. */
  isSuspect(limits: Iterable<string>, server: object | undefined, { results }: Decision): boolean {
    const [result] = results;
    if (server === undefined || result === undefined) return false;
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
