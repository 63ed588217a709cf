import type { Time } from '@sluice/core';
import { countText, durationText } from './number-text.ts';
import type { Terminal } from './terminal.ts';

/** How much there is to do. */
export interface ProgressTotal {
  /** In bytes; undefined if it is not known, as on a pipe. */
  readonly bytes: number | undefined;
}

const EVERY_MICROS = 100_000;
const BAR_WIDTH = 20;
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** A line on stderr that shows how far a reading is: bytes, lines per second, and the time left. */
export class Progress {
  readonly #terminal: Terminal;
  readonly #time: Time;
  readonly #total: number | undefined;
  readonly #isShown: boolean;
  readonly #startMicros: number;
  #lastMicros: number;
  #isDrawn = false;

  constructor(terminal: Terminal, time: Time, { bytes }: ProgressTotal) {
    this.#terminal = terminal;
    this.#time = time;
    this.#total = bytes;
    this.#isShown = terminal.isTty('stderr');
    this.#startMicros = this.#lastMicros = time.nowMicros();
  }

  /** Shows how much was read so far, at most ten times a second. May be called for each chunk, not for each line. */
  update(bytes: number, lines: number): void {
    this.show((seconds) => progressLine({ bytes, lines, total: this.#total, seconds }));
  }

  /**
   * Shows a text, at most ten times a second.
   *
   * @param text - Returns it, given the time since the start, which is above 0.
   */
  show(text: (seconds: number) => string): void {
    if (!this.#isShown) return;
    const nowMicros = this.#time.nowMicros();
    if (nowMicros - this.#lastMicros < EVERY_MICROS) return;
    this.#lastMicros = nowMicros;
    this.#isDrawn = true;
    // Erases the rest of the line before.
    this.#terminal.write('stderr', `\r${text((nowMicros - this.#startMicros) / 1e6)}\u001B[K`);
  }

  /** Removes the line. */
  end(): void {
    if (this.#isDrawn) this.#terminal.write('stderr', '\r\u001B[K');
    this.#isDrawn = false;
  }
}

/** What a line of progress shows. */
interface ProgressFigures {
  readonly bytes: number;
  readonly lines: number;
  readonly total: number | undefined;
  /** Since the start, above 0. */
  readonly seconds: number;
}

/** Returns the text of a line of progress. */
export function progressLine({ bytes, lines, total, seconds }: ProgressFigures): string {
  const speed = `${countText(Math.round(lines / seconds))} lines/s`;
  if (total === undefined || total === 0) return `${bytesText(bytes)}  ${speed}`;
  const part = Math.min(1, bytes / total);
  const done = Math.round(part * BAR_WIDTH);
  const bar = '█'.repeat(done) + '░'.repeat(BAR_WIDTH - done);
  const left = part === 0 ? '' : `  ${durationText(1000 * Math.ceil((seconds * (1 - part)) / part))} left`;
  return `${bar} ${Math.floor(part * 100)} %  ${bytesText(bytes)} of ${bytesText(total)}  ${speed}${left}`;
}

function bytesText(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`;
}
