import type { IncomingMessage } from 'node:http';
import { toNativePromise, allOf, andThen, type Awaitable } from '../async/awaitable.ts';
import { checkCostFits, transactionOf } from '../decision/batch.ts';
import type { Decision } from '../decision/decision.ts';
import { isInstance } from '../checks/errors.ts';
import type { IpAddress } from '../ids/ip-address.ts';
import type { KeySource } from '../keys/key.ts';
import type { LimiterCore } from '../limiter/limiter-core.ts';
import { callOnDecision } from '../limiter/on-decision.ts';
import type { Transaction } from '../decision/transaction.ts';
import type { Exchange } from './exchange.ts';
import { retryAfterSeconds, writeFields } from './fields.ts';
import type { CheckedUse, FlowSettings } from './middleware-options.ts';
import { hasLeftUnseen, rememberPeer } from '../client/peer.ts';
import { attempt, Rejected } from './rejected.ts';
import { denialOf, type Denial } from './denial.ts';
import { RequestDecision } from './request-decision.ts';
import { chargeFullCosts, checkSettles, settleAfterResponse } from './settlement.ts';
import { errorOf } from './thrown.ts';

/**
 * The outcome for a request: `null` when it may continue, otherwise the response to send. `'left'`: the client
 * disconnected before its address was known. Such a request is neither let through nor answered, and is not an error.
 */
export type FlowOutcome = Denial | null | 'left';

/**
 * Decides one request by the limits of one middleware or route. Returns synchronously if all functions, keys and the
 * store do.
 *
 * A limit whose id or cost is unknown, because the client's input is invalid or a key or cost function fails, does not
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
  checkSettles(settings, exchange);
  if (!settings.limitPreflight && isPreflight(exchange.incoming)) return null;
  try {
    const outcome = decideUnlessSkipped(settings, exchange, settleArgs);
    if (!(outcome instanceof Promise)) return outcome;
    rememberPeer(exchange.incoming);
    return outcome.catch(throwError);
  } catch (cause) {
    throw errorOf(cause);
  }
}

function throwError(cause: unknown): never {
  throw errorOf(cause);
}

function decideUnlessSkipped<Request, SettleArgs extends readonly unknown[]>(
  settings: FlowSettings<Request, SettleArgs>,
  exchange: Exchange<Request>,
  settleArgs: SettleArgs,
): Awaitable<FlowOutcome> {
  const { skip } = settings;
  if (skip === undefined) return decide(settings, exchange, settleArgs, []);
  const skipped = attempt(() => toNativePromise(skip(exchange.request)));
  return andThen(skipped, (answer) => {
    if (answer instanceof Rejected) return decide(settings, exchange, settleArgs, [answer]);
    return answer ? null : decide(settings, exchange, settleArgs, []);
  });
}

/** The transaction of one limit, `null` when the limit does not apply to the request, or a failure. */
type Part = Transaction | null | Rejected;

/** @param parts - A failure of `skip`, if any. The parts of the limits are appended. */
function decide<Request, SettleArgs extends readonly unknown[]>(
  settings: FlowSettings<Request, SettleArgs>,
  exchange: Exchange<Request>,
  settleArgs: SettleArgs,
  parts: Awaitable<Part>[],
): Awaitable<FlowOutcome> {
  const { limiter, uses } = settings;
  const source = new ExchangeSource(exchange, limiter);
  for (const use of uses) parts.push(attempt(() => transactionFor(limiter, use, source)));
  const known = allOf(parts);
  return known instanceof Promise
    ? known.then((settled) => spend(settings, exchange, settleArgs, settled))
    : spend(settings, exchange, settleArgs, known);
}

function transactionFor<Request>(
  limiter: LimiterCore<Request>,
  { limit: name, cost, mode }: CheckedUse<Request, never>,
  source: KeySource<Request>,
): Awaitable<Transaction | null> {
  const { set } = limiter;
  const { request } = source;
  const limit = limiter.limit(name);
  // The key of a disabled limit is not called: a failing key may be the reason for disabling it.
  if (limit.disabled) return null;
  return andThen(toNativePromise(limit.key.idOf!(source, name)), (id) => {
    if (id === null) return null;
    if (typeof cost === 'number') return andThen(transactionOf(set, { limit, id, cost, mode, request }), affordable);
    return andThen(toNativePromise(cost(request)), (tokens) =>
      andThen(transactionOf(set, { limit, id, cost: tokens, mode, request }), affordable),
    );
  });
}

function affordable(transaction: Transaction | null): Transaction | null {
  if (transaction !== null) checkCostFits(transaction);
  return transaction;
}

function spend<Request, SettleArgs extends readonly unknown[]>(
  settings: FlowSettings<Request, SettleArgs>,
  exchange: Exchange<Request>,
  settleArgs: SettleArgs,
  parts: readonly Part[],
): Awaitable<FlowOutcome> {
  const rejected = parts.find(isError) ?? parts.find(isRejected);
  if (rejected !== undefined) return spendBesides(settings, exchange, parts, rejected);
  const decision = settings.limiter.spendBatch(transactionsAmong(parts));
  return decision instanceof Promise
    ? decision.then((settled) => carryOut(settings, exchange, settleArgs, settled))
    : carryOut(settings, exchange, settleArgs, decision);
}

/**
 * Decides the known transactions despite the failures, so that invalid input can't be used to bypass the other limits.
 */
function spendBesides<Request, SettleArgs extends readonly unknown[]>(
  settings: FlowSettings<Request, SettleArgs>,
  exchange: Exchange<Request>,
  parts: readonly Part[],
  { cause }: Rejected,
): Awaitable<Denial | 'left'> {
  const known = transactionsAmong(parts);
  if (known.length === 0) return endBy(cause);
  return andThen(settings.limiter.spendBatch(known), (decision) => {
    if (decision.allowed) chargeFullCosts(settings, exchange, decision);
    return report(settings, exchange, decision) ?? endBy(cause);
  });
}

function endBy(cause: unknown): 'left' {
  if (isInstance(cause, ClientLeft)) return 'left';
  throw cause;
}

// The limits of one middleware have different names, so a bucket can't occur twice.
function transactionsAmong(parts: readonly Part[]): readonly Transaction[] {
  return parts.every(isTransaction) ? parts : parts.filter(isTransaction);
}

function isTransaction(part: Part): part is Transaction {
  return part !== null && !isRejected(part);
}

function isRejected(part: Part): part is Rejected {
  return part instanceof Rejected;
}

function isError(part: Part): part is Rejected {
  return isRejected(part) && !isInstance(part.cause, ClientLeft);
}

/**
 * Thrown instead of ERR_NO_CLIENT_ADDRESS when the client disconnected before its address was read. Not visible outside
 * of the flow.
 */
class ClientLeft extends Error {}

/** The input of keys. The address is computed at most once, when the first key reads it. */
class ExchangeSource<Request> implements KeySource<Request> {
  readonly request: Request;
  readonly #incoming: IncomingMessage;
  readonly #limiter: LimiterCore<Request>;
  #address: IpAddress | undefined;

  constructor(exchange: Exchange<Request>, limiter: LimiterCore<Request>) {
    this.request = exchange.request;
    this.#incoming = exchange.incoming;
    this.#limiter = limiter;
  }

  get clientAddress(): IpAddress {
    return (this.#address ??= this.#found());
  }

  #found(): IpAddress {
    try {
      return this.#limiter.clientAddress(this.#incoming);
    } catch (error) {
      throw hasLeftUnseen(this.#incoming) ? new ClientLeft() : error;
    }
  }
}

function carryOut<Request, SettleArgs extends readonly unknown[]>(
  settings: FlowSettings<Request, SettleArgs>,
  exchange: Exchange<Request>,
  settleArgs: SettleArgs,
  decision: Decision,
): Denial | null {
  if (decision.allowed) settleAfterResponse(settings, exchange, settleArgs, decision);
  return report(settings, exchange, decision);
}

/** Reports a decision to the callbacks, the request and the response, and returns the response to send. */
function report<Request, SettleArgs extends readonly unknown[]>(
  settings: FlowSettings<Request, SettleArgs>,
  exchange: Exchange<Request>,
  decision: Decision,
): Denial | null {
  const { limiter, uses, shadow, dialect, onDecision } = settings;
  const { request } = exchange;
  limiter.watchRequest(exchange.incoming, decision);
  if (limiter.onDecision !== undefined) limiter.reportDecision(decision, { request, shadow });
  if (onDecision !== undefined) callOnDecision(limiter.emit, () => onDecision(decision, request));
  if (shadow) return null;
  const soFar = exchange.decision;
  const onRequest = soFar instanceof RequestDecision ? soFar : (exchange.decision = new RequestDecision(request));
  onRequest.add(decision, limiter, uses);
  const retryAfter = retryAfterSeconds(decision, settings.retryJitter);
  writeFields(decision, exchange, { dialect, retryAfter });
  return decision.allowed ? null : denialOf(decision, retryAfter);
}

// A CORS preflight request (https://fetch.spec.whatwg.org/#cors-preflight-request), which a browser sends before the
// actual request.
function isPreflight(incoming: IncomingMessage): boolean {
  // Node parses the header fields on first access, so the method is tested first.
  if (incoming.method !== 'OPTIONS') return false;
  const { headers } = incoming;
  return headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}
