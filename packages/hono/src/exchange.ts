import { mayLackFields, type Exchange, type RequestDecision } from '@sluice/core/http';
import { listenForErrors, ResponseEnd, WebExchange } from '@sluice/fetch/kit';
import type { Context } from 'hono';

/** The end of the response to a context. */
export type ContextEnd = ResponseEnd;

const ends = new WeakMap<Context, ContextEnd>();

/** Returns the end of a context's response, which all limits of a request share. The first of them observes it. */
export function endOf(c: Context): { readonly end: ContextEnd; readonly isOutermost: boolean } {
  const known = ends.get(c);
  if (known !== undefined) return { end: known, isOutermost: false };
  const end = new ResponseEnd(c.req.raw, () => [c.env, { waitUntil: (work: Promise<unknown>) => waitUntil(c, work) }]);
  ends.set(c, end);
  listenForErrors(c.env);
  return { end, isOutermost: true };
}

/** Lets a request last until some work has ended, if its server can do it: if not, Hono throws. */
function waitUntil(c: Context, work: Promise<unknown>): void {
  try {
    c.executionCtx.waitUntil(work);
  } catch {
    // The server does not end what a request has begun.
  }
}

/** Adapts a Hono context to the flow of core. */
export class HonoExchange extends WebExchange<Context> {
  // On Node, a client that reset its connection has no address any more, and its signal may not be aborted yet.
  override get peer(): Exchange<Context>['peer'] {
    return super.peer ?? (isOver(this.request) ? 'left' : undefined);
  }

  /** On Node; where else Hono runs, an application sees no lines. */
  get lacksFields(): boolean {
    const { incoming } = (this.request.env as NodeBindings | undefined) ?? {};
    return incoming !== undefined && mayLackFields(incoming);
  }

  get decision(): RequestDecision | undefined {
    return this.request.get('rateLimit');
  }

  set decision(decision: RequestDecision | undefined) {
    this.request.set('rateLimit', decision);
  }

  getField(name: string): string | undefined {
    return this.request.res.headers.get(name) ?? undefined;
  }

  // On `c.res`, not by `c.header`: Hono keeps only the former for a handler that returns a response of its own.
  setField(name: string, value: string): void {
    this.request.res.headers.set(name, value);
  }
}

interface NodeBindings {
  readonly incoming?: Parameters<typeof mayLackFields>[0] & {
    readonly socket?: { readonly localPort?: number; readonly remoteAddress?: string } | null;
  };
}

/** Whether a connection of `@hono/node-server` is over: a TCP connection keeps its local port, which a unix socket never has. */
function isOver({ env }: Context): boolean {
  const socket = (env as NodeBindings | undefined)?.incoming?.socket;
  return socket?.localPort !== undefined && socket.remoteAddress === undefined;
}
