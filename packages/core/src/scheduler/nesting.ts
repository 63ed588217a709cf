import { SluiceError } from '../checks/errors.ts';
import type { Work } from '../limiter/run-options.ts';
import { callSiteIn, callSiteOf, traceOf, type Trace } from '../runtime/call-site.ts';
import { nodeModule } from '../runtime/node-module.ts';
import type { CallLane } from './scheduled-call.ts';

/** Work that has begun, and what it holds. */
interface Outer {
  /** The buckets of which something is held until the work ends; empty afterwards. */
  held: readonly string[];
  /** Where the program asked for it. */
  readonly trace: Trace;
  readonly outer: Outer | undefined;
}

interface Context {
  run<T>(outer: Outer, work: () => T): T;
  getStore(): Outer | undefined;
}

/** Remembers what work holds, so that a call inside of it for the same is an error, and not a wait for each other. */
export class Nesting {
  /** Undefined in a runtime without it: such a call then waits until its time is over. */
  readonly #context: Context | undefined = newContext();

  /**
   * @param called - The function that the program has called.
   * @throws {SluiceError} `ERR_NESTED` for a call inside of work that holds something of one of its buckets.
   */
  check({ held: wanted }: CallLane, called: (...args: never[]) => unknown): void {
    if (wanted.length === 0) return;
    for (let outer = this.#context?.getStore(); outer !== undefined; outer = outer.outer) {
      const { held, trace } = outer;
      const bucket = wanted.find((each) => held.includes(each));
      if (bucket !== undefined) throw nested(bucket, callSiteIn(trace), callSiteOf(called));
    }
  }

  /** Returns work that knows what it holds. */
  around<T>({ held }: CallLane, called: (...args: never[]) => unknown, work: Work<T>): Work<T> {
    const context = this.#context;
    if (held.length === 0 || context === undefined) return work;
    const trace = traceOf(called);
    return (decision) => {
      const outer: Outer = { held, trace, outer: context.getStore() };
      return context.run(outer, async () => {
        try {
          return await work(decision);
        } finally {
          // What it has opened, such as a socket, may keep its context for longer.
          outer.held = [];
        }
      });
    };
  }
}

function newContext(): Context | undefined {
  const hooks = nodeModule('node:async_hooks');
  return hooks === undefined ? undefined : new hooks.AsyncLocalStorage<Outer>();
}

function nested(bucket: string, outer: string, inner: string): SluiceError {
  const [limit] = bucket.split(':');
  return new SluiceError(
    'ERR_NESTED',
    `\`run\` ${inner} must not be called inside of work of \`run\` ${outer}, because that work holds a part of limit "${limit}" until it ends, ` +
      'and both might wait for each other. Call it after the work, or use another limit.',
  );
}
