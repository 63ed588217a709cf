import type { EventSink, EventLine } from './event.ts';
import type { Time } from '../time/time.ts';
import { StateLines } from './state-lines.ts';

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
