import type { EventSink, EventLine } from './event.ts';
import type { Time } from '../time/time.ts';

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
