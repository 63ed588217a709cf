import { shownName } from '../errors.ts';
import type { LimiterEvent } from '../events.ts';
import type { StorePressure } from '../store.ts';

/** The warning of a limiter whose own store is nearly full or evicts. */
export function pressureWarning(pressure: StorePressure): LimiterEvent {
  const remedy = `If so many clients are real, keep more buckets: memoryStore({ maxKeys: ${2 * pressure.maxKeys} }).`;
  return warning('The store', pressure, remedy);
}

/** The warning of the store that decides for `onFailure: 'local'` while the limiter's own can't answer. */
export function localPressureWarning(pressure: StorePressure): LimiterEvent {
  const remedy = "Make the limiter's store answer again, or take onFailure: 'closed' where no request may pass then.";
  return warning("The local store of onFailure: 'local'", pressure, remedy);
}

function warning(store: string, { size, maxKeys, evicted, largest }: StorePressure, remedy: string): LimiterEvent {
  const fill = `${size} of at most ${maxKeys} buckets, ${largest.size} of them of limit "${shownName(largest.limit)}"`;
  const message =
    evicted === 0
      ? `${store} is nearly full: ${fill}. When it is full, it evicts buckets of the limit that has the most. ${remedy}`
      : `${store} is full: ${fill}. It evicted ${evicted === 1 ? '1 bucket' : `${evicted} buckets`} in debt since the ` +
        `last such warning: the clients get their burst again. ${remedy}`;
  return { type: 'warning', message };
}
