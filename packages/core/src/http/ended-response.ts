import type { ServerResponse } from 'node:http';

const callbacks = new WeakMap<ServerResponse, (() => void)[]>();

/**
 * Calls a function once, when other code has called `end` or `destroy` of a response, also after its client has left;
 * at once when it already has. Node emits no event when a response is ended that nobody receives.
 */
export function onceEnded(response: ServerResponse, done: () => void): void {
  if (response.writableEnded) return done();
  const known = callbacks.get(response);
  if (known !== undefined) return void known.push(done);
  const all = [done];
  callbacks.set(response, all);
  const report = (): void => {
    for (const call of all.splice(0)) call();
  };
  response.end = reporting(response.end, report) as ServerResponse['end'];
  response.destroy = reporting(response.destroy, report) as ServerResponse['destroy'];
}

/** Returns a method that also reports its calls. */
function reporting(method: (...args: never[]) => unknown, report: () => void) {
  return function reportingMethod(this: ServerResponse, ...args: never[]): unknown {
    const result = method.apply(this, args);
    report();
    return result;
  };
}
