import { SluiceError, type Decision, type SpendEntry } from '@sluice/core';
import { expectSettlement } from '@sluice/core/http';
import { reasonOf } from '@sluice/core/kit';
import { BudgetExceededError } from './budget-exceeded-error.ts';
import { noId, type Budget, type IdOfCall } from './budget-options.ts';
import { estimatedTokens, type Extent } from './estimate.ts';
import { ignoreRejection } from './ignore-rejection.ts';
import { OpenCall } from './open-call.ts';
import { costOf, NO_TOKENS, type Tokens } from './weights.ts';

/** A call that is to be made. */
export interface AskedCall<Args extends readonly unknown[]> {
  readonly args: Args;
  readonly extent: Extent;
  readonly signal: AbortSignal | undefined;
}

/**
 * Takes the estimate of a call, and its slots, and makes it: at once, or at its turn in a scheduler.
 *
 * @param make - Makes the call, and ends it.
 * @throws {BudgetExceededError} When the limits do not allow it.
 * @throws {SluiceError} For a call without an id or without a bound of its answer, and for an estimate that never fits; of a
 * scheduler, those of `Scheduler.run`.
 */
export async function beginCall<Args extends readonly unknown[], Result>(
  budget: Budget<Args>,
  { args, extent, signal }: AskedCall<Args>,
  make: (call: OpenCall) => Promise<Result>,
): Promise<Result> {
  const { of, turns, id: given } = budget;
  const id = typeof given === 'function' ? askedId(of, () => given(...args)) : given;
  const estimate = budget.hasTokens ? estimatedTokens(budget, args, extent) : NO_TOKENS;
  const entries = entriesOf(budget, id, estimate);
  const open = (decision: Decision, ended: () => void): OpenCall =>
    new OpenCall(budget, { estimate, decision, signal, ended });
  let begun: Promise<Result> | undefined;
  try {
    if (turns === undefined) begun = make(await allowed(budget, entries, signal, open));
    else return await turns.take(entries, args, signal, (decision, ended) => (begun = make(open(decision, ended))));
  } catch (error) {
    throw begun === undefined ? withEstimate(error, estimate, extent.boundName) : error;
  }
  return begun;
}

/** Takes the entries of a call, or rejects. */
async function allowed(
  { limiter, wait, retry }: Budget<never>,
  entries: readonly SpendEntry[],
  signal: AbortSignal | undefined,
  open: (decision: Decision, ended: () => void) => OpenCall,
): Promise<OpenCall> {
  const decision = await limiter.spend(entries, { hold: true, wait, signal });
  if (!decision.allowed) throw new BudgetExceededError(decision, retry);
  const call = open(decision, expectSettlement(decision));
  if (signal?.aborted !== true) return call;
  await call.refund();
  throw signal.reason;
}

function entriesOf<Args extends readonly unknown[]>(
  { of, limits }: Budget<Args>,
  id: IdOfCall | undefined,
  estimate: Tokens,
): SpendEntry[] {
  return limits.map(({ name, isEveryone, cost }) => ({
    limit: name,
    id: isEveryone ? 'everyone' : idAt(of, id, name),
    cost: typeof cost === 'number' ? cost : costOf(estimate, cost),
  }));
}

function idAt(of: string, id: IdOfCall | undefined, limit: string): string {
  const isByLimit = typeof id === 'object' && id !== null;
  const own = isByLimit ? id[limit] : id;
  // Other types than text are errors of the limiter, which say what to write.
  if (own === undefined || own === null) throw noId(of, id, isByLimit ? limit : undefined);
  return own;
}

/** Calls a function `id`. What it throws is the cause of an error that names the option. */
export function askedId<Id>(of: string, ask: () => Id): Id {
  try {
    return ignoreRejection(ask());
  } catch (cause) {
    const message = `threw "${reasonOf(cause)}". Nothing is called without an id.`;
    throw new SluiceError('ERR_KEY', message, { path: `${of}.id`, cause });
  }
}

/** Says what the cost is made of, for a cost that can never pass. */
function withEstimate(error: unknown, { input, output }: Tokens, boundName: string): unknown {
  if (!(error instanceof SluiceError) || error.code !== 'ERR_COST_OVER_BURST') return error;
  const message = `A call is estimated at ${input} input and ${output} output tokens: ${error.message} Its ${boundName} bounds the output.`;
  return new SluiceError(error.code, message, { status: error.status === 400 ? 400 : 500, cause: error });
}
