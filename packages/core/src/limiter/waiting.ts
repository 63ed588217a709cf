import type { Awaitable } from '../async/awaitable.ts';
import { complaint } from '../checks/errors.ts';
import { checkOptions } from '../checks/options.ts';
import type { Decision } from '../decision/decision.ts';
import { closed } from '../failure/store-gate.ts';
import type { QueuedDecisions } from './queued-decisions.ts';
import type { WaitOptions } from './limiter.ts';

/**
 * Decides, and resolves with the decision when its delay is over: see `Limiter.spendAndWait`.
 *
 * @param spend - Decides. It is not called when the signal is already aborted.
 * @throws {SluiceError} `ERR_OPTION` or `ERR_UNKNOWN_OPTION` for wrong options. Rejects with `ERR_CLOSED` when the limiter
 * is closed while the decision waits.
 */
export function spendAndWait(
  spend: () => Awaitable<Decision>,
  queued: QueuedDecisions,
  options: WaitOptions,
): Promise<Decision> {
  checkOptions('spendAndWait', options, ['signal']);
  const { signal } = options;
  checkSignal(signal);
  if (signal?.aborted === true) return rejectedBy(signal);
  const decided = spend();
  // Without a tick between a decision that is there at once and its wait: `close` then finds it.
  return decided instanceof Promise
    ? decided.then((decision) => delayed(decision, queued, signal))
    : delayed(decided, queued, signal);
}

function delayed(decision: Decision, queued: QueuedDecisions, signal: AbortSignal | undefined): Promise<Decision> {
  if (signal?.aborted === true) {
    queued.giveBack(decision);
    return rejectedBy(signal);
  }
  if (decision.delayMs === 0) return Promise.resolve(decision);
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      if (leave()) resolve(rejectedBy(signal!));
    };
    // Before `add`, which may end the wait at once.
    signal?.addEventListener('abort', abort, { once: true });
    const leave = queued.add(decision, (how) => {
      signal?.removeEventListener('abort', abort);
      if (how === 'over') resolve(decision);
      else reject(closed());
    });
  });
}

function checkSignal(signal: unknown): void {
  const given = signal as Partial<AbortSignal> | null | undefined;
  if (given === undefined || typeof given?.addEventListener === 'function') return;
  throw complaint('ERR_OPTION', {
    option: 'spendAndWait.signal',
    demand: 'an AbortSignal',
    value: signal,
    remedy: 'For example AbortSignal.timeout(1000), or the signal of an AbortController.',
  });
}

/** A promise that rejects with the reason of an aborted signal, which may be any value. */
async function rejectedBy(signal: AbortSignal): Promise<never> {
  throw signal.reason;
}
