// The room runtime: what core uses of Node where there is some, and what it does elsewhere.

/**
 * Returns a built-in module of Node; undefined in a runtime that has none, such as a browser.
 *
 * No file of this package imports such a module, so that the package loads in every runtime. Bun, Deno and Workers with
 * `nodejs_compat` have the modules, too.
 *
 * @see https://nodejs.org/api/process.html#processgetbuiltinmoduleid since Node 20.16
 */
export function nodeModule<Id extends keyof BuiltInModules>(id: Id): BuiltInModules[Id] | undefined {
  const { process }: { readonly process?: Partial<NodeJS.Process> | undefined } = globalThis;
  try {
    return process?.getBuiltinModule?.(id);
  } catch {
    // The Edge runtime of Next.js has every function of `process`, and each of them throws.
    return undefined;
  }
}

/** The modules that this package uses where there are some. */
interface BuiltInModules {
  readonly 'node:assert/strict': typeof import('node:assert/strict');
  readonly 'node:async_hooks': typeof import('node:async_hooks');
  readonly 'node:crypto': typeof import('node:crypto');
  readonly 'node:diagnostics_channel': typeof import('node:diagnostics_channel');
  readonly 'node:perf_hooks': typeof import('node:perf_hooks');
  readonly 'node:timers': typeof import('node:timers');
  readonly 'node:util': typeof import('node:util');
}
