import type { ServerResponse } from 'node:http';

const callbacks = new WeakMap<ServerResponse, (() => void)[]>();

/**
 * Calls a function once, when other code has called `end` or `destroy` of a response, even after its client has left;
 * at once when it already has. Node emits no event when a response is ended that nobody receives.
 */
export function onceEnded(of: object, done: () => void): void {
  // Without a type of Node in the types of core.
  const response = of as ServerResponse;
  if (response.writableEnded) return done();
  const known = callbacks.get(response);
  if (known !== undefined) return void known.push(done);
  const all = [done];
  callbacks.set(response, all);
  const report = (): void => {
    for (const call of all.splice(0)) call();
  };
  reportCalls(response, 'end', report);
  reportCalls(response, 'destroy', report);
}

function reportCalls(response: ServerResponse, name: 'end' | 'destroy', report: () => void): void {
  const method = response[name] as (...args: never[]) => never;
  response[name] = function reportingMethod(this: ServerResponse, ...args: never[]) {
    const result = method.apply(this, args);
    report();
    return result;
  };
}
