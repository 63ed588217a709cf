import { nodeModule } from '../runtime/node-module.ts';

/** The values of `AsyncLocalStorage` as they were when it was made: a request id, the span of a trace. */
export interface AsyncContext {
  runInAsyncScope<T>(work: () => T): T;
}

const AsyncResource = nodeModule('node:async_hooks')?.AsyncResource;

/** Returns the context of the caller; undefined in a runtime without one. */
export function currentContext(): AsyncContext | undefined {
  return AsyncResource && new AsyncResource('SluiceCall');
}
