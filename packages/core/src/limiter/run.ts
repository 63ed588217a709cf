import { attempt, Rejected, toNativePromise, type Awaitable } from '../async/awaitable.ts';
import { complaint, reasonOf } from '../checks/errors.ts';
import { checkFunction, checkOptions } from '../checks/options.ts';
import { expectSettlement, type Decided } from '../decision/decided.ts';
import type { Decision } from '../decision/decision.ts';
import type { FirstOf, SpendEntry } from './entry.ts';
import type { Limiter } from './limiter.ts';
import type { RequestLimiter } from './request-limiter.ts';
import type { Ran, RunOptions, Work } from './run-options.ts';
import type { TrueCosts } from './settlement.ts';

/** What {@link perform} uses of a limiter. */
export type RunningLimiter = Pick<Limiter, 'refund' | 'settle'> & Pick<RequestLimiter<never>, 'emit' | 'trackWork'>;

/** The work was done. */
type Performed<T> = Extract<Ran<T>, { readonly allowed: true }>;

/** See `Limiter.run`. */
export async function run<T>(
  limiter: RunningLimiter & Pick<Limiter, 'spend'>,
  entries: readonly SpendEntry[] | FirstOf,
  work: Work<T>,
  options: RunOptions<T> = {},
): Promise<Ran<T>> {
  checkOptions('run', options, ['signal', 'within', 'settle']);
  checkWork(work);
  const { signal, within, settle } = options;
  checkFunction(
    'run.settle',
    settle,
    'It returns true costs, for example settle: (answer) => ({ Tokens: answer?.tokens }).',
  );
  const decision = await limiter.spend(entries, { hold: true, wait: true, signal, within });
  if (!decision.allowed) return { allowed: false, decision };
  return perform(limiter, decision, work, options);
}

/** Does the work of an allowed decision: see `Limiter.run`. */
export async function perform<T>(
  limiter: RunningLimiter,
  decision: Decision,
  work: Work<T>,
  { signal, settle }: Pick<RunOptions<T>, 'signal' | 'settle'>,
): Promise<Performed<T>> {
  if (signal?.aborted === true) return leave(limiter, decision, signal);
  const endPending = settle === undefined ? undefined : expectSettlement(decision);
  const end = await attempt(() => toNativePromise(work(decision)));
  const { holding } = decision as Decided;
  if (holding !== undefined) await holding.release();
  if (settle !== undefined) {
    const error = end instanceof Rejected ? end.cause : undefined;
    const value = end instanceof Rejected ? undefined : end;
    const ask = (): Awaitable<TrueCosts | undefined> => settle(value, { error, aborted: signal?.aborted === true });
    await limiter.trackWork(settled(limiter, decision, ask));
    endPending?.();
  }
  if (end instanceof Rejected) throw end.cause;
  return { allowed: true, decision, value: end };
}

/** Gives back what was taken for work that is not begun. */
async function leave(limiter: RunningLimiter, decision: Decision, signal: AbortSignal): Promise<never> {
  await Promise.all([limiter.refund(decision), decision.release()]);
  throw signal.reason;
}

/** Never rejects: the work was done, and a failure is an event. */
async function settled(
  limiter: RunningLimiter,
  decision: Decision,
  ask: () => Awaitable<TrueCosts | undefined>,
): Promise<void> {
  try {
    const costs = await ask();
    if (costs !== undefined) await limiter.settle(decision, costs);
  } catch (cause) {
    const message = `The settle function of run failed (${reasonOf(cause)}). The costs stay as they were taken.`;
    limiter.emit({ type: 'callback-failed', callback: 'settle', cause, message });
  }
}

/** @throws {SluiceError} `ERR_OPTION` for a value that is not a function. */
export function checkWork(work: unknown): void {
  if (typeof work === 'function') return;
  throw complaint('ERR_OPTION', {
    option: 'run(work)',
    demand: 'a function',
    value: work,
    remedy: "For example run('12345678', () => send(mail)).",
  });
}
