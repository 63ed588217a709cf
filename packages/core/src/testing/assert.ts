import { nodeModule } from '../runtime/node-module.ts';

type Assert = typeof import('node:assert/strict');

/** Node's assertions. In a runtime without `node:assert`, the cases of a contract can't run, and say so. */
export const assert: Assert =
  nodeModule('node:assert/strict') ??
  new Proxy({} as Assert, {
    get() {
      throw new Error('This contract needs `node:assert`, which this runtime lacks. Run it in Node, Bun or Deno.');
    },
  });
