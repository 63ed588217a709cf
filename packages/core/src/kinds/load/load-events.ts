import { reasonOf, shownName } from '../../checks/errors.ts';
import type { LimiterEvent } from '../../events/event.ts';

/** Creates the event for something that failed so many times since the last event. */
export type FailureEvent = (limit: string, count: number, cause: unknown) => LimiterEvent;

export const signalFailed: FailureEvent = (limit, count, cause) => {
  const message =
    `The load of limit "${shownName(limit)}" can't be read (${reasonOf(cause)})${times(count)}. It counts as no load, ` +
    'so that the limit sheds less and less. Make the function return a number from 0 to 1.';
  return { type: 'load-failed', limit, count, cause, message };
};

export const enabledFailed: FailureEvent = (limit, count, cause) => {
  const message =
    `The function \`enabled\` of the load of limit "${shownName(limit)}" failed (${reasonOf(cause)})${times(count)}. ` +
    'Shedding remains on or off as it was. Make the function return true or false.';
  return { type: 'load-failed', limit, count, cause, message };
};

function times(count: number): string {
  return count === 1 ? '' : ` ${count} times since the last such event`;
}
