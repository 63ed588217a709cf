/**
 * What packages that know all kinds of limits need of them: the loader of files and the command line. It may change in any
 * version; users need none of it.
 *
 * @module
 */
export { BORROW } from './kinds/borrow/borrow-kind.ts';
export { ceilingOf } from './kinds/borrow/borrow.ts';
export { borrowTermsOf } from './kinds/borrow/terms.ts';
export { overriddenPool } from './kinds/borrow/pools.ts';
export { CONCURRENCY } from './kinds/concurrency/concurrency-kind.ts';
export { LOAD, LOAD_KEY } from './kinds/load/load-kind.ts';
export { loadSettings } from './kinds/load/load-options.ts';
export { QUOTA } from './kinds/quota/quota-kind.ts';
