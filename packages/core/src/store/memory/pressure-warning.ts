import { shownName } from '../../checks/errors.ts';
import type { LimiterEvent } from '../../events/event.ts';
import type { StorePressure } from '../store.ts';

/** Creates the warning for a limiter's own store that is nearly full or evicts buckets. */
export function pressureWarning(pressure: StorePressure): LimiterEvent {
  const remedy = `If so many clients are real, keep more buckets: memoryStore({ maxKeys: ${2 * pressure.maxKeys} }).`;
  return warning('The store', pressure, remedy);
}

/**
 * Creates the warning for the store that decides under `onFailure: 'local'` while the limiter's own store can't answer.
 */
export function localPressureWarning(pressure: StorePressure): LimiterEvent {
  const remedy =
    "Make the limiter's store answer again, or use onFailure: 'closed' for limits that must hold during an outage.";
  return warning("The local store of onFailure: 'local'", pressure, remedy);
}

function warning(store: string, { size, maxKeys, evicted, largest }: StorePressure, remedy: string): LimiterEvent {
  const fill = `${size} of at most ${maxKeys} buckets, ${largest.size} of them of limit "${shownName(largest.limit)}"`;
  const message =
    evicted === 0
      ? `${store} is nearly full: ${fill}. When it is full, it evicts buckets of the limit that has most of them. ${remedy}`
      : `${store} is full: ${fill}. Since the last such warning it evicted ` +
        `${evicted === 1 ? '1 bucket' : `${evicted} buckets`} with spent tokens: these clients get their burst again. ${remedy}`;
  return { type: 'warning', message };
}
