import type { Awaitable } from '../async/awaitable.ts';
import { lateDecision } from '../decision/decide.ts';
import type { Decided } from '../decision/decided.ts';
import { closed } from '../failure/store-gate.ts';
import type { QueuedDecisions } from './queued-decisions.ts';
import type { SpendOptions } from './spend-options.ts';

/**
 * Decides, and returns the decision when its delay is over, if that is to be waited for: see `Limiter.spend`.
 *
 * @param spend - Decides. It is not called when the signal is already aborted.
 * @param options - Valid ones.
 * @returns A promise that rejects with the reason of the signal, or with `ERR_CLOSED` when the limiter is closed while the
 * decision waits.
 */
export function whenItsTurn(
  spend: () => Awaitable<Decided>,
  queued: QueuedDecisions,
  { wait, signal }: Pick<SpendOptions, 'wait' | 'signal'>,
): Awaitable<Decided> {
  if (signal?.aborted === true) return rejectedBy(signal);
  const decided = spend();
  const then = (decision: Decided): Awaitable<Decided> => {
    if (signal?.aborted === true) {
      queued.giveBack(decision);
      void decision.release();
      return rejectedBy(signal);
    }
    return wait === true && decision.delayMs > 0 ? delayed(decision, queued, signal) : decision;
  };
  // Without a tick between a decision that is there at once and its wait: `close` then finds it.
  return decided instanceof Promise ? decided.then(then) : then(decided);
}

function delayed(decision: Decided, queued: QueuedDecisions, signal: AbortSignal | undefined): Promise<Decided> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      if (!leave()) return;
      void decision.release();
      resolve(rejectedBy(signal!));
    };
    // Before `add`, which may end the wait at once.
    signal?.addEventListener('abort', abort, { once: true });
    const leave = queued.add(decision, (how) => {
      signal?.removeEventListener('abort', abort);
      if (how === 'over') return resolve(decision);
      void decision.release();
      if (how === 'late') resolve(lateDecision(decision.origin.owner));
      else reject(closed());
    });
  });
}

/** A promise that rejects with the reason of an aborted signal, which may be any value. */
async function rejectedBy(signal: AbortSignal): Promise<never> {
  throw signal.reason;
}
