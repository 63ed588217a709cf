import { shownName } from '../../checks/errors.ts';
import type { LimiterEvent } from '../../events/event.ts';
import type { StorePressure } from '../store.ts';

/** Creates the event for a limiter's own store that is nearly full or has evicted buckets in debt. */
export function pressureEvent(pressure: StorePressure): LimiterEvent {
  const remedy = `If so many clients are real, keep more buckets: memoryStore({ maxKeys: ${2 * pressure.maxKeys} }).`;
  return eventOf('The store', pressure, remedy);
}

/**
 * Creates the event for the store that decides under `onFailure: 'local'` while the limiter's own store can't answer.
 */
export function localPressureEvent(pressure: StorePressure): LimiterEvent {
  const remedy =
    "Make the limiter's store answer again, or use onFailure: 'closed' for limits that must hold during an outage.";
  return eventOf("The local store of onFailure: 'local'", pressure, remedy);
}

function eventOf(store: string, pressure: StorePressure, remedy: string): LimiterEvent {
  const { size, maxKeys, evicted, largest } = pressure;
  const fill = `${size} of at most ${maxKeys} buckets, ${largest.size} of them of limit "${shownName(largest.limit)}"`;
  if (evicted === 0) {
    const outlook = 'When it is full, it evicts buckets of the limit that has most of them.';
    return { type: 'warning', message: `${store} is nearly full: ${fill}. ${outlook} ${remedy}` };
  }
  const loss = `${evicted === 1 ? '1 bucket' : `${evicted} buckets`} with spent tokens: these clients get their burst again.`;
  return {
    type: 'buckets-evicted',
    count: evicted,
    message: `${store} is full: ${fill}. Since the last such event it evicted ${loss} ${remedy}`,
  };
}
