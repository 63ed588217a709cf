/**
 * The buckets of a memory store as bytes, so that a service of one process can be restarted.
 *
 * @module
 */
export { dump, dumpParts, restore, restorePart } from './store/memory/dumped-store.ts';
