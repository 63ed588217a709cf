import type { SluiceError } from '@sluice/core';
import { complaint } from '@sluice/core/kit';
import type { Scheduler } from '@sluice/core/scheduler';
import type { CallsOptions } from './calls-options.ts';
import { CALLS_OPTIONS, LimitedCalls, type OutgoingCall } from './limited-calls.ts';
import { LimitedHandler, type DispatchHandler } from './limited-handler.ts';

/** What undici is to send: the options of its `dispatch`. Functions of options get it. */
export interface DispatchedCall {
  readonly origin?: string | URL | undefined;
  readonly path: string;
  readonly method: string;
  readonly headers?: unknown;
  readonly body?: unknown;
}

/** The options of {@link limitedDispatch}. */
export interface LimitedDispatchOptions<Name extends string> extends CallsOptions<Name, DispatchedCall> {}

/** The `dispatch` of undici 7 and 8, without their types. */
type Dispatch = (options: never, handler: never) => boolean;

const ASKED = {
  of: 'limitedDispatch',
  known: CALLS_OPTIONS,
  example: 'new Agent().compose(limitedDispatch(scheduler))',
};

/**
 * Returns an interceptor of undici 7 and 8 that lets each request wait until the limits of a scheduler allow it. As the global
 * dispatcher it is that of every `fetch` of a process:
 *
 *     setGlobalDispatcher(new Agent().compose(limitedDispatch(scheduler, { limits: ['Api'] })));
 *
 * A request holds its slots until its answer has ended, or has failed; one that changes the protocol until its socket is closed.
 * Compose undici's own interceptors for retries and redirects after it, so that what they send comes through it again.
 *
 * @throws {SluiceError} `ERR_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_UNKNOWN_LIMIT`, `ERR_COST_OVER_BURST`, `ERR_DURATION`.
 */
export function limitedDispatch<Name extends string>(
  scheduler: Scheduler<Name>,
  options: LimitedDispatchOptions<Name> = {},
): <D extends Dispatch>(dispatch: D) => D {
  const calls = new LimitedCalls<DispatchedCall>(ASKED, scheduler, options);
  return (dispatch) => {
    const send = dispatch as unknown as (options: DispatchedCall, handler: DispatchHandler) => boolean;
    // undici counts the parameters.
    const limited = (call: DispatchedCall, handler: DispatchHandler): boolean => {
      const leaving = new AbortController();
      const limitedHandler = new LimitedHandler(handler, leaving);
      void begin(calls, call, limitedHandler, () => void send(call, limitedHandler), leaving.signal);
      return true;
    };
    return limited as unknown as typeof dispatch;
  };
}

async function begin(
  calls: LimitedCalls<DispatchedCall>,
  options: DispatchedCall,
  handler: LimitedHandler,
  send: () => void,
  signal: AbortSignal,
): Promise<void> {
  try {
    handler.wait();
    const call = calledBy(options);
    const asked = calls.exchangeOf(call);
    const exchange = asked instanceof Promise ? await asked : asked;
    const wait = { ...calls.waitOf(call), signal };
    const beginOnce = (): Promise<void> => exchange.begin(() => handler.begin(exchange, send), wait);
    await beginOnce().catch(async (error: unknown) => {
      if ((error as Partial<SluiceError> | undefined)?.code !== 'ERR_NESTED') throw error;
      // An interceptor for redirects sends the next request when an answer ends, inside of work that ends in the same turn.
      await new Promise<void>((resolve) => void calls.time.endOfTurn(resolve));
      return beginOnce();
    });
  } catch (error) {
    handler.fail(error as Error);
  }
}

function calledBy(options: DispatchedCall): OutgoingCall<DispatchedCall> {
  const { origin } = options;
  if (!URL.canParse(String(origin))) throw noOrigin(origin);
  return { origin: new URL(origin!).origin, subject: () => options };
}

function noOrigin(value: unknown): Error {
  const remedy = "For example request('https://api.example.com/path'), or a Pool of that origin.";
  return complaint('ERR_OPTION', { option: 'dispatch.origin', demand: 'an absolute URL', value, remedy });
}
