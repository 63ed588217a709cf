import { complaint } from '../checks/errors.ts';
import type { EventSink, EventLine } from './event.ts';
import { logged, type Log } from './throttled-log.ts';
import { checkFunction } from '../checks/options.ts';
import { callAndForget } from '../async/awaitable.ts';
import { systemTime, type Time } from '../time/time.ts';

/** The options that receive events: `onEvent` and `log`. */
export interface EventSinkOptions {
  /** Called with each event. Errors that it throws are ignored. */
  readonly onEvent?: ((event: never) => void) | undefined;
  /** Receives each log line; `false` disables logging. Default: `console.warn`. Errors that it throws are ignored. */
  readonly log?: Log | false | undefined;
  /** By which log lines are omitted. Default: the process's own. */
  readonly time?: Time | undefined;
}

/**
 * Returns a function that emits events to `onEvent` and, as lines, to `log`.
 *
 * @throws {SluiceError} `ERR_OPTION` when `onEvent` is not a function, or `log` is neither a function nor false.
 */
export function eventSink<Event extends EventLine>({
  onEvent,
  log = console.warn,
  time = systemTime,
}: EventSinkOptions): EventSink<Event> {
  checkFunction('onEvent', onEvent, 'For example onEvent: (event) => metrics.count(event.type).');
  if (log !== false && typeof log !== 'function') {
    const remedy = 'For example log: (line) => logger.warn(line).';
    throw complaint('ERR_OPTION', { option: 'log', demand: 'a function of a line, or false', value: log, remedy });
  }
  const listener = onEvent as ((event: Event) => void) | undefined;
  // Errors of the listener and of the log must not reach the code that emits an event. The prefix makes our lines
  // recognizable among those of other libraries.
  const toLog = log === false ? undefined : logged((line) => callAndForget(() => log(`Sluice: ${line}`), ignore), time);
  return (event) => {
    toLog?.(event);
    if (listener !== undefined) callAndForget(() => listener(event), ignore);
  };
}

function ignore(): void {}
