import { monotonicClock, type Clock } from '../time/clock.ts';
import type { Notify, Tellable } from './event.ts';
import { StateLines, type Later } from './state-lines.ts';

/** Takes one line of text. */
export type Log = (line: string) => void;

/** How long a kind of event that comes again and again stays silent in the log after a line, in microseconds. */
const QUIET_MICROS = 10_000_000;

/** The time of log lines. Default: the process's own. */
export interface LogTime {
  readonly clock?: Clock;
  readonly later?: Later;
}

/**
 * Turns events into log lines: of each kind one line at once, then at most one in ten seconds with the count of those
 * left out. What comes once is never left out. A change of the store's state is a line at once, too, unless it comes and
 * goes, see {@link StateLines}.
 */
export function logged(log: Log, { clock = monotonicClock, later }: LogTime = {}): Notify<Tellable> {
  const silences = new Map<string, { untilMicros: number; leftOut: number }>();
  const stateLines = new StateLines(log, later);
  return ({ type, message, once }) => {
    if (once === true) return log(message);
    if (type === 'store-failing' || type === 'store-recovered') return stateLines.add(message);
    const nowMicros = clock.nowMicros();
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
