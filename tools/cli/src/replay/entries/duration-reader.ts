import { DURATION_UNITS, type FieldName, type LogFormat } from '../formats/line-parser.ts';
import { decimalTimes, TimeReader } from './time-text.ts';

/** The longest duration of a request, in microseconds: a day. A larger number is a mistake, or is in another unit. */
const MAX_MICROS = 24 * 3_600_000_000;

/** Returns whether microseconds can be the duration of a request. */
export function isDuration(micros: number): boolean {
  return micros >= 0 && micros <= MAX_MICROS;
}

/** Reads how long requests took: the duration that a line has, or its end minus its start. */
export class DurationReader {
  readonly #unit: number;
  readonly #isTimeEnd: boolean;
  readonly #duration: number;
  readonly #time: number;
  readonly #started: number;
  /** Two, because each remembers its last date. */
  readonly #ends = new TimeReader();
  readonly #starts = new TimeReader();

  /** @param fields - The fields whose places the lines have. */
  constructor(format: LogFormat, fields: readonly FieldName[]) {
    this.#unit = DURATION_UNITS[format.durationUnit];
    this.#isTimeEnd = format.timeIs === 'end';
    [this.#duration, this.#time, this.#started] = ['duration', 'time', 'started'].map((field) => {
      return 2 * fields.indexOf(field);
    }) as [number, number, number];
  }

  /** Returns whole microseconds, at most those of a day; NaN if the line does not show it. */
  read(bytes: Buffer, spans: Int32Array): number {
    const [duration, end, start] = [this.#duration, this.#time, this.#started];
    const micros =
      spans[duration] !== -1
        ? decimalTimes(this.#unit, bytes, spans[duration]!, spans[duration + 1]!)
        : this.#isTimeEnd && spans[end] !== -1 && spans[start] !== -1
          ? this.#ends.read(bytes, spans[end]!, spans[end + 1]!) -
            this.#starts.read(bytes, spans[start]!, spans[start + 1]!)
          : NaN;
    return isDuration(micros) ? micros : NaN;
  }
}
