import type { IncomingMessage } from 'node:http';
import { adopted, andThen, type Awaitable } from '../awaitable.ts';
import { batchOf, transactionOf } from '../batch.ts';
import type { Decision } from '../decision.ts';
import { reasonOf } from '../errors.ts';
import type { IpAddress } from '../ids/ip-address.ts';
import type { KeySource } from '../keys/key.ts';
import type { LimiterCore } from '../limiter-core.ts';
import type { Transaction } from '../transaction.ts';
import { runUnawaited } from '../unawaited.ts';
import type { Exchange } from './exchange.ts';
import { retryAfterSeconds, writeFields } from './fields.ts';
import type { CheckedUse, FlowSettings } from './middleware-options.ts';
import { refusalOf, type Refusal } from './refusal.ts';
import { RequestDecision } from './request-decision.ts';
import { settleAfterResponse } from './settlement.ts';
import { errorOf } from './thrown.ts';

/**
 * The way of a request through the limits of one middleware or route. Gives what to answer when it must not go on,
 * `null` when it may: at once when everything on the way answers at once.
 *
 * What the user's own functions (key, cost, skip) throw is thrown on, for the framework's error handler: such a
 * request is neither admitted nor answered here.
 *
 * @param settleArgs - What `settle` functions are called with.
 */
export function runFlow<Request, SettleArgs extends readonly unknown[]>(
  settings: FlowSettings<Request, SettleArgs>,
  exchange: Exchange<Request>,
  settleArgs: SettleArgs,
): Awaitable<Refusal | null> {
  if (!settings.limitPreflight && isPreflight(exchange.incoming)) return null;
  try {
    const refusal = decideUnlessSkipped(settings, exchange, settleArgs);
    return refusal instanceof Promise ? refusal.catch(throwError) : refusal;
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
): Awaitable<Refusal | null> {
  if (settings.skip === undefined) return decide(settings, exchange, settleArgs);
  return andThen(adopted(settings.skip(exchange.request)), (skipped) =>
    skipped ? null : decide(settings, exchange, settleArgs),
  );
}

function decide<Request, SettleArgs extends readonly unknown[]>(
  settings: FlowSettings<Request, SettleArgs>,
  exchange: Exchange<Request>,
  settleArgs: SettleArgs,
): Awaitable<Refusal | null> {
  const decision = settings.limiter.spendBatch(transactionsOf(settings, exchange));
  return decision instanceof Promise
    ? decision.then((settled) => carryOut(settings, exchange, settleArgs, settled))
    : carryOut(settings, exchange, settleArgs, decision);
}

function transactionsOf<Request>(
  { limiter, uses }: FlowSettings<Request, never>,
  exchange: Exchange<Request>,
): Awaitable<readonly Transaction[]> {
  const source = new ExchangeSource(exchange, limiter);
  const transactions: Awaitable<Transaction | null>[] = [];
  try {
    for (const use of uses) transactions.push(transactionFor(limiter, use, source));
  } catch (cause) {
    // Others may still be on their way, and fail too: only together with them nothing is left unhandled.
    transactions.push(Promise.reject(cause));
  }
  return batchOf(transactions);
}

function transactionFor<Request>(
  limiter: LimiterCore<Request>,
  { limit: name, cost, mode }: CheckedUse<Request, never>,
  source: KeySource<Request>,
): Awaitable<Transaction | null> {
  const { set } = limiter;
  const limit = limiter.limit(name);
  // Nobody is asked for the id of a limit that is switched off: it may be why it is.
  if (limit.disabled) return null;
  return andThen(adopted(limit.key.idOf!(source, name)), (id) => {
    if (id === null) return null;
    if (typeof cost === 'number') return transactionOf(set, { limit, id, cost, mode });
    return andThen(adopted(cost(source.request)), (tokens) => transactionOf(set, { limit, id, cost: tokens, mode }));
  });
}

/** What keys look at. The address is found at most once, and only when a key asks for it. */
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
    return (this.#address ??= this.#limiter.clientAddress(this.#incoming));
  }
}

function carryOut<Request, SettleArgs extends readonly unknown[]>(
  settings: FlowSettings<Request, SettleArgs>,
  exchange: Exchange<Request>,
  settleArgs: SettleArgs,
  decision: Decision,
): Refusal | null {
  const { limiter, uses, shadow, dialect, onDecision } = settings;
  if (onDecision !== undefined) report(limiter, () => onDecision(decision, exchange.request));
  if (decision.allowed) settleAfterResponse(settings, exchange, settleArgs, decision);
  if (shadow) return null;
  const soFar = exchange.decision;
  const onRequest = soFar instanceof RequestDecision ? soFar : (exchange.decision = new RequestDecision());
  onRequest.add(decision, limiter, uses);
  const retryAfter = retryAfterSeconds(decision, settings.retryJitter);
  writeFields(decision, exchange, { dialect, retryAfter });
  return decision.allowed ? null : refusalOf(decision, retryAfter);
}

function report(limiter: LimiterCore<never>, run: () => unknown): void {
  runUnawaited(run, (cause) =>
    limiter.notify({
      type: 'callback-failed',
      callback: 'onDecision',
      cause,
      message: `Sluice: onDecision failed: ${reasonOf(cause)}. The request went on.`,
    }),
  );
}

// https://fetch.spec.whatwg.org/#cors-preflight-request: a browser asks, before the request that it is about.
function isPreflight(incoming: IncomingMessage): boolean {
  // Node reads the fields when they are first asked for: most requests are not asked.
  if (incoming.method !== 'OPTIONS') return false;
  const { headers } = incoming;
  return headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}
