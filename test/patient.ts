import type { Store } from '@sluice/core';

const PATIENT_MS = 20_000;

/** A store that waits longer if the caller names no deadline: the machine may do other work. */
export function patient<S extends Store>(store: S): S {
  const run = store.run.bind(store);
  const holders = store.holders?.bind(store);
  const patiently: Store['run'] = (operation, deadlineMs = PATIENT_MS) => run(operation, deadlineMs);
  const listed: Store['holders'] = holders && ((buckets, deadlineMs = PATIENT_MS) => holders(buckets, deadlineMs));
  return Object.assign(store, { run: patiently }, listed && { holders: listed });
}
