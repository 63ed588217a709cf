import type { Decided } from '../decision/decided.ts';
import type { WaitEnd } from '../limiter/queued-decisions.ts';
import type { Places } from '../limiter/prepared-limits.ts';
import type { RequestLimiter } from '../limiter/request-limiter.ts';
import type { Exchange } from './exchange.ts';

/** The requests of one middleware that are queued for the delay of a `maxWait`. Their number is limited. */
export class QueuedRequests implements Places {
  readonly #places: number;
  #taken = 0;

  /** @param places - How many requests can be queued at the same time: a whole number of at least 0. */
  constructor(places: number) {
    this.#places = places;
  }

  take(): boolean {
    if (this.#taken >= this.#places) return false;
    this.#taken++;
    return true;
  }

  free(): void {
    this.#taken--;
  }

  /**
   * Queues a request for the delay of its decision, for which a place was taken. Frees the place afterwards. If the
   * client disconnects before, or other code ends the response, the tokens are given back.
   */
  add(
    limiter: RequestLimiter<never>,
    decision: Decided,
    exchange: Pick<Exchange<unknown>, 'onEnd'>,
  ): Promise<WaitEnd | 'left'> {
    return new Promise((resolve) => {
      const end = (how: WaitEnd | 'left'): void => {
        this.free();
        resolve(how);
      };
      const leave = limiter.delay(decision, end);
      exchange.onEnd?.((ended) => {
        if (ended !== 'unknown' && leave()) end('left');
      });
    });
  }
}
