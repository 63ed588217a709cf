import { complaint } from '../checks/errors.ts';
import type { Notify, Tellable } from './event.ts';
import { logged, type Log } from './throttled-log.ts';
import { checkFunction } from '../checks/options.ts';
import { runUnawaited } from '../async/call-and-forget.ts';

/** Who is told of events: the options `onEvent` and `log`. */
export interface Listeners {
  /** Called with each event; what it throws is ignored. */
  readonly onEvent?: ((event: never) => void) | undefined;
  /** Takes each line; `false` for nobody. What it throws is ignored. */
  readonly log?: Log | false | undefined;
}

/**
 * Tells events to a listener, and to a log as lines; to `console.warn` unless told otherwise.
 *
 * @throws {SluiceError} `ERR_OPTION` for an `onEvent` or a `log` that is none.
 */
export function notifier<Event extends Tellable>({ onEvent, log = console.warn }: Listeners): Notify<Event> {
  checkFunction('onEvent', onEvent, 'For example onEvent: (event) => metrics.count(event.type).');
  if (log !== false && typeof log !== 'function') {
    const remedy = 'For example log: (line) => logger.warn(line).';
    throw complaint('ERR_OPTION', { option: 'log', demand: 'a function of a line, or false', value: log, remedy });
  }
  const listener = onEvent as ((event: Event) => void) | undefined;
  // Whoever tells an event goes on, whatever the listener and the logger do. Among the lines of other libraries ours are
  // found by their beginning.
  const toLog = log === false ? undefined : logged((line) => runUnawaited(() => log(`Sluice: ${line}`), ignore));
  return (event) => {
    toLog?.(event);
    if (listener !== undefined) runUnawaited(() => listener(event), ignore);
  };
}

function ignore(): void {}
