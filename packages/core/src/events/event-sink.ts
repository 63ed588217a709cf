import { complaint } from '../checks/errors.ts';
import type { EventSink, EventLine } from './event.ts';
import { checkFunction } from '../checks/options.ts';
import { callAndForget } from '../async/awaitable.ts';
import { systemTime } from '../time/system-time.ts';
import type { Time } from '../time/time.ts';
import { ThrottledChanges } from './throttle.ts';

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

/** Writes one line of text to a log. */
export type Log = (line: string) => void;

/** After a line, further events of the same type are omitted for this time. */
const QUIET_MICROS = 10_000_000;

/**
 * Returns a function that writes events to a log. The first event of each type is written at once; after that at most
 * one line in ten seconds, with the number of events omitted since. Events with a threshold are throttled by limit and
 * threshold, so that 50 % of one quota does not hide 100 % of another. Events with `once` are never omitted. Changes of
 * the store's state are limited separately, see {@link ThrottledChanges}.
 */
export function logged(log: Log, time: Time): EventSink<EventLine> {
  const silences = new Map<string, { untilMicros: number; leftOut: number }>();
  const changes = new ThrottledChanges<string>(time, (message, leftOut) =>
    log(leftOut === 0 ? message : `${message} (and ${leftOut} more changes since the last line)`),
  );
  return (event) => {
    const { type, message, once } = event;
    if (once === true) return log(message);
    if (type === 'store-failing' || type === 'store-recovered') return changes.add(message);
    const nowMicros = time.nowMicros();
    const kind = lineKind(event);
    const silence = silences.get(kind);
    if (silence !== undefined && nowMicros < silence.untilMicros) {
      silence.leftOut++;
      return;
    }
    const leftOut = silence?.leftOut ?? 0;
    silences.set(kind, { untilMicros: nowMicros + QUIET_MICROS, leftOut: 0 });
    log(leftOut === 0 ? message : `${message} (and ${leftOut} more like it since the last line)`);
  };
}

/** Returns what is throttled together. The number of kinds is bounded by that of the limits and their thresholds. */
function lineKind({ type, limit, threshold }: EventLine): string {
  return threshold === undefined ? type : `${type} ${limit} ${threshold}`;
}
