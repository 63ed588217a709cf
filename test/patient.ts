import type { Store } from '@sluice/core';

/** A store that waits longer if the caller names no deadline: the machine may do other work. */
export function patient<S extends Store>(store: S): S {
  const run = store.run.bind(store);
  const patiently: Store['run'] = (operation, deadlineMs = 20_000) => run(operation, deadlineMs);
  return Object.assign(store, { run: patiently });
}
