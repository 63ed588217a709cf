/** What a handler is given with a request in a Worker, in a middleware of Next.js and in a service worker. */
interface ExecutionContext {
  waitUntil(work: Promise<unknown>): void;
}

/**
 * Lets a request last until some work has ended, if one of the arguments of its handler can do it. A Worker ends a call of the
 * store that nobody waits for when the response is over: slots would not be released, and costs not settled.
 *
 * @param args - The arguments of the handler beside the request.
 */
export function keepAlive(args: readonly unknown[], work: Promise<unknown>): void {
  args.find(isExecutionContext)?.waitUntil(work);
}

function isExecutionContext(arg: unknown): arg is ExecutionContext {
  return typeof (arg as Partial<ExecutionContext> | null | undefined)?.waitUntil === 'function';
}
