import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';

/** A request whose handler holds slots. */
interface Handling {
  readonly callbacks: (() => void)[];
  /** Whether the handler has begun, and has not returned, or has returned a promise. */
  isRunning: boolean;
}

const handlings = new WeakMap<FastifyRequest, Handling>();

/**
 * Calls a function once, when the handler of a request has ended: when its promise settles. A handler that returns none,
 * and a request that another hook answers, ends with its reply.
 *
 * @param onceEnded - Calls a function when the reply was ended.
 */
export function onceHandled(request: FastifyRequest, onceEnded: (done: () => void) => void, done: () => void): void {
  const known = handlings.get(request);
  if (known !== undefined) return void known.callbacks.push(done);
  const handling: Handling = { callbacks: [done], isRunning: false };
  handlings.set(request, handling);
  onceEnded(() => {
    if (!handling.isRunning) end(handling);
  });
}

const followed = new WeakSet<RouteHandlerMethod>();

/** Returns a handler of a route whose end {@link onceHandled} reports. */
export function followedHandler(handler: RouteHandlerMethod): RouteHandlerMethod {
  if (followed.has(handler)) return handler;
  const follower: RouteHandlerMethod = function handlerWithSlots(request, reply) {
    const handling = handlings.get(request);
    return handling === undefined
      ? handler.call(this, request, reply)
      : follow(handling, reply, () => handler.call(this, request, reply));
  };
  followed.add(follower);
  return follower;
}

function follow(handling: Handling, reply: FastifyReply, run: () => unknown): unknown {
  handling.isRunning = true;
  let isLater = false;
  try {
    const result = run();
    isLater = isPromise(result, reply);
    // Not `then` on the result: some query builders run their query at each call.
    return isLater ? Promise.resolve(result).finally(() => end(handling)) : result;
  } finally {
    handling.isRunning = isLater;
    if (!isLater && reply.raw.writableEnded) end(handling);
  }
}

/** A reply can be awaited, and means that the handler sends it by itself. */
function isPromise(result: unknown, reply: FastifyReply): boolean {
  return result !== reply && typeof (result as { readonly then?: unknown } | null | undefined)?.then === 'function';
}

function end({ callbacks }: Handling): void {
  for (const call of callbacks.splice(0)) call();
}
