import type { Decision } from '@sluice/core';
import type { LimitsStatusOptions, LimitUse, MiddlewareOptions, RequestDecision, ResponseEnd } from '@sluice/core/http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:net';

/** What the requests of all frameworks have in common. */
export interface NativeRequest {
  readonly headers: IncomingHttpHeaders;
}

/** The options of `rateLimit`, as every framework takes them. */
export type Options = MiddlewareOptions<NativeRequest, readonly never[]> & { readonly onDenied?: unknown };

/** What a handler sees and does, in the same words for all frameworks. */
export interface Context {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** What the limits left on the request. */
  readonly decision: RequestDecision | undefined;
  readonly status: (code: number) => void;
  readonly set: (name: string, value: string) => void;
}

/** Gives the body, or throws. Nothing is sent by itself when it gives `undefined`. */
export type Handler = (context: Context) => string | undefined | Promise<string | undefined>;

/** An application to be served. */
export interface Plan {
  /** Runs before all limits, which wait for its promise. */
  readonly before?: ((context: Context) => void | Promise<void>) | undefined;
  /** Hold for every request, in this order. */
  readonly limits?: readonly Options[];
  /** The options of the framework's `limitsStatus`, which answers at `/rate_limit`. */
  readonly status?: LimitsStatusOptions<NativeRequest>;
  /** By path, for every method; other paths are answered by the framework's own 404. */
  readonly routes?: Readonly<Record<string, Route>>;
  /** The framework's own setting that believes every X-Forwarded-For. */
  readonly trustsEveryProxy?: boolean;
  /** A plain middleware that runs before all limits, and throws. */
  readonly plain?: (() => never) | undefined;
  /**
   * Whether each thrown value is answered, whatever it is. Koa's own error handler throws at some of them; with this a
   * middleware before all others catches them.
   */
  readonly catchesAll?: boolean;
  /** Told of each error that reaches the framework's error handler. */
  readonly onError?: (error: unknown) => void;
}

interface Route {
  /** Hold for this route alone, in this order. */
  readonly limits?: readonly Options[];
  /** Default: answers 200 with `ok`. */
  readonly handle?: Handler;
}

/** Answers a refused request in the words of a handler. */
type DeniedHandler = (context: Context, decision: Decision) => string | Promise<string>;

/** What a server speaks, in clear text. */
export type Protocol = 'HTTP/1.1' | 'HTTP/2';

type Settle = NonNullable<LimitUse<NativeRequest, readonly never[]>['settle']>;

/** A framework under the contract. */
export interface Framework {
  readonly name: string;
  readonly protocol: Protocol;
  /** The name of its function, as messages say it. Default: `rateLimit`. */
  readonly caller?: string;
  /** Whether the framework never answers HEAD requests over this protocol, also without limits. Default: false. */
  readonly ignoresHead?: boolean;
  /** Thrown values, by name, that the framework's own error handling fails at: its handlers get something else. */
  readonly loses?: readonly string[];
  /** Topics and tests by name that can't exist for this framework, and why. */
  readonly skips?: Readonly<Record<string, string>>;
  /** Makes a server that does not listen yet. */
  serve(plan: Plan): Promise<Server>;
  /** The framework's `rateLimit` with these options: throws what is wrong with them. */
  make(options: unknown): unknown;
  /** The framework's `limitsStatus` with these options. */
  makeStatus(options: unknown): unknown;
  /** An `onDenied` in this framework's form. */
  onDenied(handle: DeniedHandler): unknown;
  /** A `settle` that goes by the status of the response, and by how it ended. */
  settle(trueCost: (status: number, end: ResponseEnd) => number | Promise<number>): Settle;
}

export const ok: Handler = () => 'ok';

/** Goes on at once, or when a promise is there. */
export function andThen<T>(value: void | Promise<void>, next: () => T): T | Promise<T> {
  return value instanceof Promise ? value.then(next) : next();
}

/** The status that an error handler answers to what was thrown, whatever it is. */
export function statusOf(thrown: unknown): number {
  try {
    return (thrown as { readonly status?: number } | null | undefined)?.status ?? 500;
  } catch {
    return 500;
  }
}
