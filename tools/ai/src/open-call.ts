import type { Decision } from '@sluice/core';
import { reasonOf, shown } from '@sluice/core/kit';
import type { Settling } from './budget-options.ts';
import { tokensOfUsage, type Usage } from './usage.ts';
import { costOf, NO_TOKENS, type Tokens } from './weights.ts';

/** The names of errors of a call that was aborted: of `fetch`, of servers of Next.js, and of `AbortSignal.timeout`. */
const ABORT_ERRORS: ReadonlySet<string> = new Set(['AbortError', 'ResponseAborted', 'TimeoutError']);

/** Those of the SDKs of OpenAI and Anthropic have no name of their own. */
const ABORT_MESSAGES: ReadonlySet<string> = new Set(['Request was aborted.', 'Request timed out.']);

const UNKNOWN_BILL =
  'A model did not report what a call has used: it was aborted or left, or its usage is missing. The estimate counts instead. ' +
  'Streams of OpenAI have a usage with stream_options: { include_usage: true }.';

/** What was taken for a call. */
interface Begun {
  readonly estimate: Tokens;
  readonly decision: Decision;
  readonly signal: AbortSignal | undefined;
  /** Is called when it has ended and is settled, and at each later correction. */
  readonly ended: () => void;
}

/**
 * A call that its budget allows, with what was taken for it. Corrections never reject: the model has answered, and what
 * can't be corrected is an event.
 */
export class OpenCall {
  readonly budget: Settling;
  readonly estimate: Tokens;
  readonly #decision: Decision;
  readonly #signal: AbortSignal | undefined;
  readonly #ended: () => void;

  constructor(budget: Settling, { estimate, decision, signal, ended }: Begun) {
    this.budget = budget;
    this.estimate = estimate;
    this.#decision = decision;
    this.#signal = signal;
    this.#ended = ended;
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
      this.#ended();
    }
  }

  #warn(message: string): void {
    this.budget.emit({ type: 'warning', message });
  }
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
