// The room http: one request: its limits, ids and costs, the decision, the header fields, the denial, `settle`.
import { attempt, Rejected, toNativePromise, type Awaitable } from '../async/awaitable.ts';
import { isInstance, shown, SluiceError } from '../checks/errors.ts';
import { closedDecision, lateDecision } from '../decision/decide.ts';
import { Decided } from '../decision/decided.ts';
import { closed } from '../failure/store-gate.ts';
import type { IpAddress } from '../ids/ip-address.ts';
import type { KeySource } from '../keys/key.ts';
import { kindOfLimit } from '../kinds/kind.ts';
import { callOnDecision } from '../limiter/reports.ts';
import type { PartialDecision } from '../limiter/prepared-limits.ts';
import { answerTo } from './answering.ts';
import { dueOf } from './caller-deadline.ts';
import type { Exchange } from './exchange.ts';
import { tooManyFields } from './lacking-fields.ts';
import type { FlowSettings } from './middleware-options.ts';
import type { Denial } from './denial.ts';
import { chargeFullCosts, checkSettles, settleAfterResponse } from './settlement.ts';

/**
 * The outcome for a request: `null` when it may continue, otherwise the response to send. `'left'`: the client
 * disconnected before its address was known, before the request was decided, or while it waited for its turn. Such a
 * request is neither let through nor answered, and is not an error.
 */
export type FlowOutcome = Denial | null | 'left';

/**
 * Decides one request by the limits of one middleware or route, and lets an allowed request wait for the delay of the
 * decision. Returns synchronously if all functions, keys and the store do, and there is no delay.
 *
 * A limit whose id, cost or share is unknown, because the client's input is invalid or a function fails, does not
 * prevent the other limits from being decided and spent. When `skip` fails, nothing is skipped. If the other limits
 * deny the request, the denial is the outcome. Otherwise the first error, in the order of the limits, is thrown for the
 * framework's error handler.
 *
 * @param settleArgs - The arguments for `settle` functions.
 */
export function runFlow<Request, SettleArgs extends readonly unknown[]>(
  settings: FlowSettings<Request, SettleArgs>,
  exchange: Exchange<Request>,
  settleArgs: SettleArgs,
): Awaitable<FlowOutcome> {
  if (settings.settling.length > 0) checkSettles(settings, exchange);
  // Node parses the header fields on first access, so the method is tested first.
  if (exchange.method === 'OPTIONS' && !settings.limitPreflight && isPreflight(exchange)) return null;
  try {
    if (settings.limiter.trustsProxies && exchange.lacksFields === true)
      return new LackingFlow(settings, exchange, settleArgs).refuse();
    const flow = new RequestFlow(settings, exchange, settleArgs);
    const outcome = settings.skip === undefined && settings.deadline === undefined ? flow.decide() : flow.decideAfter();
    // After the client has disconnected, its server may no longer know its address.
    if (outcome instanceof Promise) void exchange.peer;
    return outcome;
  } catch (cause) {
    throw errorOf(cause);
  }
}

/** When the caller gives up, on the clock of the limiter; undefined if it waits. */
type Due = number | Rejected | undefined;

function throwError(cause: unknown): never {
  throw errorOf(cause);
}

/** One request on its way through one middleware. It is the input of the keys. */
class RequestFlow<Request, SettleArgs extends readonly unknown[]> implements KeySource<Request> {
  readonly request: Request;
  // Names with # would be one call more for each request.
  private readonly settings: FlowSettings<Request, SettleArgs>;
  private readonly exchange: Exchange<Request>;
  private readonly settleArgs: SettleArgs;
  private address: IpAddress | undefined;

  constructor(settings: FlowSettings<Request, SettleArgs>, exchange: Exchange<Request>, settleArgs: SettleArgs) {
    this.request = exchange.request;
    this.settings = settings;
    this.exchange = exchange;
    this.settleArgs = settleArgs;
    this.address = undefined;
  }

  /** The address is found at most once, when the first key reads it. */
  get clientAddress(): IpAddress {
    if (this.address !== undefined) return this.address;
    try {
      return (this.address = this.settings.limiter.clientAddress(this.exchange));
    } catch (error) {
      throw this.exchange.peer === 'left' ? new ClientLeft() : error;
    }
  }

  /** Decides after `deadline` and `skip`. The time of the caller runs from now, and not from the end of `skip`. */
  // A function that can create a closure allocates a context on each call, so it is not on the common path.
  decideAfter(): Awaitable<FlowOutcome> {
    const { skip, deadline, limiter } = this.settings;
    const due = deadline && (attempt(() => dueOf(deadline, this.exchange, limiter.time)) as Due);
    const skipped = skip !== undefined && attempt(() => toNativePromise(skip(this.request)));
    if (!(skipped instanceof Promise)) return this.#decideUnless(skipped, due);
    return skipped.then((answer) => this.#decideUnless(answer, due)).catch(throwError);
  }

  #decideUnless(skipped: boolean | Rejected, due: Due): Awaitable<FlowOutcome> {
    if (skipped === true) return null;
    const failure = [skipped, due].find((each) => each instanceof Rejected);
    return this.decide(failure, typeof due === 'number' ? due : undefined);
  }

  /**
   * @param failure - That of `skip` or of `deadline`, which comes before those of the limits.
   * @param dueMicros - When the caller gives up, on the clock of the limiter.
   */
  decide(failure?: Rejected, dueMicros?: number): Awaitable<FlowOutcome> {
    const { prepared, shadow, queued } = this.settings;
    const limits = dueMicros === undefined ? prepared.resolved() : prepared.until(dueMicros);
    if (limits.held !== undefined)
      kindOfLimit(limits.held).checkExchange!(limits.held, this.exchange, this.settings.heldUntil);
    const decided = limits.spend(this, shadow ? undefined : queued, failure);
    return decided instanceof Promise
      ? this.#carryOutLater(decided, limits.canWait)
      : this.#carryOut(decided, limits.canWait);
  }

  /** In one promise, which rejects with an error for the framework. */
  #carryOutLater(decided: Promise<Decided | PartialDecision>, canWait: boolean): Promise<FlowOutcome> {
    return decided.then((settled) => {
      try {
        return this.#carryOut(settled, canWait);
      } catch (cause) {
        throw errorOf(cause);
      }
    }, throwError);
  }

  /**
   * @param canWait - Whether the request may have to wait for its turn.
   * @param queuedMs - For how long the request was queued; undefined before it was reported.
   */
  #carryOut(decided: Decided | PartialDecision, canWait: boolean, queuedMs?: number): Awaitable<FlowOutcome> {
    if (!(decided instanceof Decided)) return this.#carryOutPart(decided);
    const { settings, exchange } = this;
    const { shadow, heldUntil } = settings;
    if (queuedMs === undefined) {
      // Only a decision with a state can hold something.
      if (decided.state !== undefined && heldUntil === 'response')
        decided.state.holding?.releaseAfterResponse(decided, exchange);
      settings.limiter.noteRequest(exchange, decided, shadow);
      if (settings.onDecision !== undefined) this.#callOnDecision(settings.onDecision, decided);
      if (canWait && !shadow && decided.delayMs > 0) return this.#queue(decided);
    }
    if (decided.passed === 0) {
      if (settings.settling.length > 0) settleAfterResponse(settings, exchange, this.settleArgs, decided);
      // No work is begun for a client that has left. In shadow mode, every request is let through.
      if (!shadow && exchange.hasLeft === true) return this.#leave(decided);
      if (decided.state !== undefined && heldUntil !== 'response')
        decided.state.holding?.releaseAfterHandler(decided, exchange, heldUntil, this.settleArgs);
    }
    return shadow ? null : answerTo(settings, exchange, decided, queuedMs);
  }

  #queue(decision: Decided): Promise<FlowOutcome> {
    const settings = this.settings;
    const answered = settings.queued.add(settings.limiter, decision, this.exchange).then((end) => {
      if (end === 'left') return this.#leave(decision);
      if (end === 'over') return this.#carryOut(decision, true, decision.delayMs);
      if (end === 'late') void decision.release();
      const instead = end === 'late' ? lateDecision(decision.origin.owner) : closedDecision(decision, closed());
      return answerTo(settings, this.exchange, instead);
    });
    return answered.catch(throwError);
  }

  /** Ends a request whose handler will not run. What it holds is released here, unless it is at the end of its response. */
  #leave(decision: Decided): 'left' {
    void decision.release();
    return 'left';
  }

  #carryOutPart({ decision, causes }: PartialDecision): Denial | 'left' {
    if (decision === null) return endBy(causes);
    decision.holding?.releaseAfterResponse(decision, this.exchange);
    if (decision.allowed) chargeFullCosts(this.settings, this.exchange, decision);
    const { limiter, shadow, onDecision } = this.settings;
    limiter.noteRequest(this.exchange, decision, shadow);
    if (onDecision !== undefined) this.#callOnDecision(onDecision, decision);
    const denial = shadow ? null : answerTo(this.settings, this.exchange, decision);
    return denial ?? endBy(causes);
  }

  #callOnDecision(onDecision: (decision: Decided, request: Request) => unknown, decision: Decided): void {
    callOnDecision(this.settings.limiter.emit, () => onDecision(decision, this.request));
  }
}

/** A request that may lack fields of the trusted proxy in front: nobody knows its client. */
class LackingFlow<Request, SettleArgs extends readonly unknown[]> extends RequestFlow<Request, SettleArgs> {
  override get clientAddress(): never {
    throw tooManyFields();
  }

  /** The limits that need no address count it, as all bad input. It is not skipped, and never let through. */
  refuse(): Awaitable<FlowOutcome> {
    return this.decide(new Rejected(tooManyFields()));
  }
}

/** Ends a request by the first of its errors. That its client has left counts only when there is no other. */
function endBy(causes: readonly unknown[]): 'left' {
  const isError = (cause: unknown): boolean => !isInstance(cause, ClientLeft);
  if (!causes.some(isError)) return 'left';
  throw causes.find(isError);
}

/**
 * Thrown instead of ERR_NO_CLIENT_ADDRESS when the client disconnected before its address was read. Not visible outside
 * of the flow.
 */
class ClientLeft extends Error {}

// A CORS preflight request (https://fetch.spec.whatwg.org/#cors-preflight-request), which a browser sends before the
// actual request: with the method OPTIONS.
function isPreflight(exchange: Exchange<unknown>): boolean {
  return exchange.header('origin') !== undefined && exchange.header('access-control-request-method') !== undefined;
}

/**
 * Converts a value that a user's function threw into an object that a framework treats as an error. After a thrown
 * `undefined` Express and Fastify would continue to the handler, and Koa would not respond. Express takes a thrown
 * `'route'` as a request to skip the remaining handlers of the route, which would bypass the limits.
 *
 * An error that a client has caused loses its stack, which some frameworks print: a client could fill the log.
 */
export function errorOf(cause: unknown): object {
  if (isInstance(cause, SluiceError) && cause.kind === 'input') cause.stack = String(cause);
  if (typeof cause === 'object' && cause !== null) return cause;
  return new Error(
    `A function passed to rateLimit threw ${shown(cause)}, which is not an Error. Throw an Error instead.`,
    { cause },
  );
}
