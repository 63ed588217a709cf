import { complaint } from '../checks/errors.ts';
import type { EventSink, EventLine } from './event.ts';
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

/** Writes one line of text to a log. */
export type Log = (line: string) => void;

/** After a line, further events of the same type are omitted for this time. */
const QUIET_MICROS = 10_000_000;

/**
 * Returns a function that writes events to a log. The first event of each type is written at once; after that at most
 * one line in ten seconds, with the number of events omitted since. Events with `once` are never omitted. Changes of
 * the store's state are limited separately, see {@link StateLines}.
 */
export function logged(log: Log, time: Time): EventSink<EventLine> {
  const silences = new Map<string, { untilMicros: number; leftOut: number }>();
  const stateLines = new StateLines(log, time);
  return ({ type, message, once }) => {
    if (once === true) return log(message);
    if (type === 'store-failing' || type === 'store-recovered') return stateLines.add(message);
    const nowMicros = time.nowMicros();
    const silence = silences.get(type);
    if (silence !== undefined && nowMicros < silence.untilMicros) {
      silence.leftOut++;
      return;
    }
    const leftOut = silence?.leftOut ?? 0;
    silences.set(type, { untilMicros: nowMicros + QUIET_MICROS, leftOut: 0 });
    log(leftOut === 0 ? message : `${message} (and ${leftOut} more like it since the last line)`);
  };
}

/** At most so many lines within {@link SPAN_MS}: enough for two outages, each with its beginning and its end. */
const MAX_LINES = 4;
const SPAN_MS = 10_000;

/**
 * Writes changes of a store's state to the log, at most four lines in ten seconds. When a store changes faster, further
 * changes are omitted, and the latest one is written at the end of the ten seconds with the number of the others. The
 * last line therefore always shows the current state.
 */
class StateLines {
  readonly #log: (line: string) => void;
  readonly #time: Time;
  /** Lines written in the current span of ten seconds; 0 outside of a span. */
  #lines = 0;
  #latest = '';
  #leftOut = 0;

  constructor(log: (line: string) => void, time: Time) {
    this.#log = log;
    this.#time = time;
  }

  add(message: string): void {
    if (this.#lines < MAX_LINES) return this.#write(message);
    this.#latest = message;
    this.#leftOut += 1;
  }

  #write(line: string): void {
    if (this.#lines === 0) this.#time.alarm(SPAN_MS, () => this.#endSpan()).unref();
    this.#lines += 1;
    this.#log(line);
  }

  #endSpan(): void {
    this.#lines = 0;
    if (this.#leftOut === 0) return;
    const others = this.#leftOut - 1;
    this.#leftOut = 0;
    this.#write(others === 0 ? this.#latest : `${this.#latest} (and ${others} more changes since the last line)`);
  }
}
