import { checkFunction, complaint, wholeNumber } from '@sluice/core/kit';
import { SchedulerError, type ScheduleOptions } from '@sluice/core/scheduler';
import type { ScheduledCallsOptions } from './calls-options.ts';
import { Delivery } from './delivery.ts';
import { Exchange } from './exchange.ts';
import { CALLS_OPTIONS, LimitedCalls } from './limited-calls.ts';
import { OutgoingRequest } from './outgoing-request.ts';
import { IDEMPOTENT, isRetried, pause, waitBefore } from './retries.ts';
import { watchedResponse } from './watched-response.ts';

/** The options of {@link limitedFetch}. Their functions get a `Request` of their own, which they may read. */
export interface LimitedFetchOptions<Name extends string> extends ScheduledCallsOptions<Name, Request> {
  /**
   * The `fetch` that sends the requests. Default: that of the platform when a request is sent; where a limited one is in its
   * place, the one that was there before.
   */
  readonly fetch?: typeof fetch | undefined;
  /**
   * How often a request is sent again when it is answered with 429 or 503: a whole number from 0 to 10. Each time it waits for
   * its limits again, at its place in the order and within the same `within`, and at least as long as `Retry-After` says. Only
   * requests of `retryMethods`, and not those with a stream as their body. The last answer is returned, at once if there is no
   * time for another try. Default: 0. SDKs send again by themselves.
   */
  readonly retries?: number | undefined;
  /** The methods that are sent again. Default: GET, HEAD, OPTIONS, PUT, DELETE and TRACE, which have the same effect twice. */
  readonly retryMethods?: readonly string[] | undefined;
}

const ASKED = {
  of: 'limitedFetch',
  known: ['scheduler', ...CALLS_OPTIONS, 'fetch', 'retries', 'retryMethods'],
  example: "limitedFetch({ scheduler, limits: ['Api'] })",
};

/**
 * Returns a `fetch` that waits until the limits of a scheduler allow each request: for code that calls `fetch`, and for SDKs
 * that take one, such as those of OpenAI, Anthropic and GitHub.
 *
 *     const client = new OpenAI({ fetch: limitedFetch({ scheduler }) });
 *
 * A request holds its slots until the body of its answer was read or cancelled, has failed, or was garbage-collected.
 *
 * @returns A function that rejects as `fetch` does, with `SchedulerError` for a request that was not sent in time, and with the
 * reason of its signal.
 * @throws {SluiceError} `ERR_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_UNKNOWN_LIMIT`, `ERR_COST_OVER_BURST`, `ERR_DURATION`.
 */
export function limitedFetch<Name extends string>(options: LimitedFetchOptions<Name>): typeof fetch {
  const calls = new LimitedCalls<Request>(ASKED, options?.scheduler, options);
  checkFunction('limitedFetch.fetch', options.fetch, 'Leave it out for the fetch of the platform.');
  const retries = wholeNumber('limitedFetch.retries', options.retries ?? 0, { min: 0, max: 10 });
  const methods = checkedMethods(options.retryMethods ?? IDEMPOTENT);
  const limited: typeof fetch = async (input, init) => {
    const request = new OutgoingRequest(input, init);
    const asked = calls.exchangeOf(request);
    const first = asked instanceof Promise ? await asked : asked;
    const wait = { ...calls.waitOf(request), signal: request.signal };
    const repeats = request.canRepeat && methods.has(request.method) ? retries : 0;
    const send = () => request.send(options.fetch ?? platformFetch(), repeats === 0);
    if (repeats === 0) return answerTo(first, send, wait);
    const place = {};
    return repeated(repeats, first, {
      send: (each) => answerTo(each, send, { ...wait, place }),
      waitMs: (tries, response) => waitBefore(tries, response, calls.time),
      pause: (ms) => pause(ms, calls.time, request.signal),
    });
  };
  return Object.defineProperty(limited, BESIDE, { value: globalThis.fetch });
}

/** The fetch of the platform when a door was made. Doors of all copies of the package have it. */
const BESIDE = Symbol.for('@sluice/outgoing: fetch');

/** The fetch of the platform, also where a door is in its place: that would call itself, and take its tokens again. */
function platformFetch(): typeof fetch {
  let found: typeof fetch & { readonly [BESIDE]?: typeof fetch } = globalThis.fetch;
  while (found?.[BESIDE] !== undefined) found = found[BESIDE];
  return found;
}

/** Sends a request at its turn, and resolves with its answer, whose body ends the exchange. */
function answerTo(
  exchange: Exchange,
  send: () => Promise<Response>,
  options: ScheduleOptions<void>,
): Promise<Response> {
  const delivery = new Delivery<Response>();
  const ended = (): void => exchange.ended();
  const fail = (error: unknown): void => {
    ended();
    delivery.reject(error);
  };
  const deliver = (response: Response): void => {
    exchange.answered(response);
    delivery.resolve(watchedResponse(response, ended));
  };
  const promise = delivery.promise();
  exchange.begin(() => void send().then(deliver).catch(fail), options).catch(fail);
  return promise;
}

/** A request that may be sent several times. */
interface Repeated {
  readonly send: (exchange: Exchange) => Promise<Response>;
  /** How long to wait after an answer, in milliseconds. */
  readonly waitMs: (tries: number, response: Response) => number;
  readonly pause: (ms: number) => Promise<void>;
}

/** Sends a request again while it is denied, and resolves with the last answer. */
async function repeated(times: number, exchange: Exchange, how: Repeated): Promise<Response> {
  let current = exchange;
  let response = await how.send(current);
  for (let tries = 1; tries <= times && isRetried(response.status); tries++) {
    // Its body stays unread, because the caller gets it if there is no time for another try.
    current.ended();
    const waitMs = how.waitMs(tries, response);
    if (!current.mayBeginIn(waitMs)) break;
    current = current.again();
    try {
      await how.pause(waitMs);
      const next = await how.send(current);
      leave(response);
      response = next;
    } catch (error) {
      if (error instanceof SchedulerError) return response;
      leave(response);
      throw error;
    }
  }
  return response;
}

function leave({ body }: Response): void {
  body?.cancel().catch(() => undefined);
}

function checkedMethods(methods: readonly string[]): ReadonlySet<string> {
  if (Array.isArray(methods) && methods.every((each) => typeof each === 'string'))
    return new Set(methods.map((each) => each.toUpperCase()));
  throw complaint('ERR_OPTION', {
    option: 'limitedFetch.retryMethods',
    demand: 'an array of methods',
    value: methods,
    remedy: "For example retryMethods: ['GET', 'POST'].",
  });
}
