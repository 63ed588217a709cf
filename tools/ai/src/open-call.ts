import { SluiceError, type Decision } from '@sluice/core';
import { expectSettlement } from '@sluice/core/http';
import { reasonOf, shown } from '@sluice/core/kit';
import { BudgetExceededError } from './budget-exceeded-error.ts';
import { noId, type Budget, type IdOfCall, type Settling } from './budget-options.ts';
import { estimatedTokens, type Extent } from './estimate.ts';
import { ignoreRejection } from './ignore-rejection.ts';
import { tokensOfUsage, type Usage } from './usage.ts';
import { costOf, NO_TOKENS, type Tokens } from './weights.ts';

/** The names of errors of a call that was aborted: of `fetch`, of servers of Next.js, and of `AbortSignal.timeout`. */
const ABORT_ERRORS: ReadonlySet<string> = new Set(['AbortError', 'ResponseAborted', 'TimeoutError']);

/** Those of the SDKs of OpenAI and Anthropic have no name of their own. */
const ABORT_MESSAGES: ReadonlySet<string> = new Set(['Request was aborted.', 'Request timed out.']);

const UNKNOWN_BILL =
  'A model did not report what a call has used: it was aborted or left, or its usage is missing. The estimate counts instead. ' +
  'Streams of OpenAI have a usage with stream_options: { include_usage: true }.';

/**
 * A call that its budget allows, with what was taken for it. Corrections never reject: the model has answered, and what
 * can't be corrected is an event.
 */
export class OpenCall {
  readonly budget: Settling;
  readonly estimate: Tokens;
  readonly #decision: Decision;
  readonly #signal: AbortSignal | undefined;
  readonly #endPending: () => void;

  constructor(budget: Settling, estimate: Tokens, decision: Decision, signal: AbortSignal | undefined) {
    this.budget = budget;
    this.estimate = estimate;
    this.#decision = decision;
    this.#signal = signal;
    this.#endPending = expectSettlement(decision);
  }

  /** Ends a call whose model has not answered. One that was aborted keeps its estimate: the model may have answered it. */
  fail(error: unknown): Promise<void> {
    return this.isAbort(error) ? this.finish(undefined) : this.cancel();
  }

  get isAborted(): boolean {
    return this.#signal?.aborted === true;
  }

  /** Whether a failure is of the caller, who no longer waited, and not of the provider, which may have failed before. */
  isAbort(error: unknown): boolean {
    const { name = '', message = '' } = (error ?? {}) as Partial<Error>;
    return (this.isAborted && error === this.#signal?.reason) || ABORT_ERRORS.has(name) || ABORT_MESSAGES.has(message);
  }

  /**
   * Ends the call by what the model reports.
   *
   * @param expected - Counts where it reports nothing. Without one, the bill is unknown: the estimate stays, with an event.
   */
  finish(usage: Usage | undefined, expected?: Tokens): Promise<void> {
    const { tokens, wrong, isWhole } = tokensOfUsage(usage, expected ?? this.estimate);
    if (wrong.length > 0) {
      this.#warn(`A model reported a usage of ${wrong.map(shown).join(', ')} tokens. The estimate counts instead.`);
      return this.settle(tokensOfUsage(usage, this.estimate).tokens);
    }
    if (!isWhole && expected === undefined && this.budget.hasTokens) this.#warn(UNKNOWN_BILL);
    return this.settle(tokens);
  }

  /** Ends the call by the tokens that it has used, as far as they are known. A later end corrects it. */
  settle(tokens: Tokens): Promise<void> {
    const costs: Record<string, number> = {};
    for (const { name, cost } of this.budget.limits) if (typeof cost !== 'number') costs[name] = costOf(tokens, cost);
    return this.#correct(() => this.budget.limiter.settle(this.#decision, costs));
  }

  /** Ends a call that used no tokens, because the model did not answer. It was made, so that fixed costs stay. */
  cancel(): Promise<void> {
    return this.settle(NO_TOKENS);
  }

  /** Ends a call that was not made. */
  refund(): Promise<void> {
    return this.#correct(() => this.budget.limiter.refund(this.#decision));
  }

  /** Ends a call by its estimate, because of an answer that can't be read. */
  lose(cause: unknown): Promise<void> {
    this.#warn(`The answer of a model could not be read (${reasonOf(cause)}). The estimate counts instead.`);
    return this.settle(this.estimate);
  }

  /** Reports a stream that its reader seems to have abandoned. */
  reportAbandoned(): void {
    const [seconds, isDrained] = [this.budget.idleMs / 1000, this.budget.onAbandoned === 'drain'];
    this.#warn(
      `A stream of a model was not read for ${seconds} s. ${isDrained ? 'The rest is read for its usage.' : 'The provider is stopped, and the estimate counts.'} ` +
        'Abort a call when its client leaves: pass an abortSignal.',
    );
  }

  /** Reports a stream whose provider sends nothing, though it is read. */
  reportSilence(): void {
    this.#warn(
      `A model sent no part of a stream for ${this.budget.idleMs / 1000} s. Its slots are released, and the estimate counts.`,
    );
  }

  async #correct(correct: () => Promise<unknown>): Promise<void> {
    try {
      await Promise.all([correct(), this.#decision.release()]);
    } catch (cause) {
      this.#warn(`The cost of a call was not settled (${reasonOf(cause)}). It stays as it was estimated.`);
    } finally {
      this.#endPending();
    }
  }

  #warn(message: string): void {
    this.budget.emit({ type: 'warning', message });
  }
}

/**
 * Takes the estimate of a call, and its slots.
 *
 * @throws {BudgetExceededError} When the limits do not allow it.
 * @throws {SluiceError} For a call without an id or without a bound of its answer, and for an estimate that never fits.
 */
export async function openCall<Args extends readonly unknown[]>(
  budget: Budget<Args>,
  args: Args,
  extent: Extent,
  signal: AbortSignal | undefined,
): Promise<OpenCall> {
  const { of, limiter, wait, retry, id: given } = budget;
  const id = typeof given === 'function' ? askedId(of, () => given(...args)) : given;
  const estimate = budget.hasTokens ? estimatedTokens(budget, args, extent) : NO_TOKENS;
  let decision: Decision;
  try {
    decision = await limiter.spend(entriesOf(budget, id, estimate), { hold: true, wait, signal });
  } catch (error) {
    throw withEstimate(error, estimate, extent.boundName);
  }
  if (!decision.allowed) throw new BudgetExceededError(decision, retry);
  const call = new OpenCall(budget, estimate, decision, signal);
  if (signal?.aborted !== true) return call;
  await call.refund();
  throw signal.reason;
}

/** Makes the call. One that fails is ended. */
export async function answerOf<Result>(ask: () => Result | PromiseLike<Result>, call: OpenCall): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    await call.fail(error);
    throw error;
  }
}

/** Ends a call by its answer. One that can't be read was paid for as well, and is returned as it is. */
export async function readAnswer<Result>(
  answer: Result,
  call: OpenCall,
  read: () => Result | PromiseLike<Result>,
): Promise<Result> {
  try {
    return await read();
  } catch (cause) {
    await call.lose(cause);
    return answer;
  }
}

function entriesOf<Args extends readonly unknown[]>(
  { of, limits }: Budget<Args>,
  id: IdOfCall | undefined,
  estimate: Tokens,
): { limit: string; id: string; cost: number }[] {
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
