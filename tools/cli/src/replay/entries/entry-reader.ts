import { DURATION_UNITS, type FieldName, type LineParser, type LogFormat } from '../formats/line-parser.ts';
import type { Identities } from '../keys/identities.ts';
import type { FieldPacker } from '../keys/packed-fields.ts';
import type { LineReceiver } from '../reading/line-splitter.ts';
import { DurationReader, isDuration } from './duration-reader.ts';
import { shownLine } from './field-text.ts';
import { JumpGuard, type SuspectLine } from './jump-guard.ts';
import type { Routes, Target } from './routes.ts';
import { decimalTimes, TimeReader } from './time-text.ts';

/** Receives the requests of a log, in the order of the log. */
export interface EntrySink {
  /**
   * @param micros - When the request arrived, in microseconds since 1970.
   * @param packed - What its ids are found in, at the beginning of these bytes. They are valid during the call only.
   * @param length - How many bytes that is.
   * @param status - Of its response; 0 if it is not known.
   * @param durationMicros - From its arrival to its end; 0 if it is not known or not needed.
   */
  take(micros: number, packed: Buffer, length: number, target: Target, status: number, durationMicros: number): void;
}

/** Why a line was skipped. */
export type SkipReason = 'too long' | 'another format' | 'no valid time' | 'far from the times of its neighbours';

/** A line that was skipped. */
export interface SkippedLine {
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  readonly reason: SkipReason;
  /** The beginning of the line, escaped. */
  readonly text: string;
}

const MAX_EXAMPLES = 5;
/** How much older than a request of a line before it a request can be, in microseconds. */
export const WINDOW_MICROS = 60_000_000;
/**
 * How long before its end a request can be decided. Lines are sorted in a window of 60 s, of which a second at each end is left
 * free.
 */
export const MAX_EARLIER_MICROS = 58_000_000;

/** What was read of all files. */
export class ReadingCounts {
  lines = 0;
  requests = 0;
  /** Requests that are too much older than one before them in the same log. They are left out. */
  late = 0;
  readonly skipped: Record<SkipReason, number> = {
    'too long': 0,
    'another format': 0,
    'no valid time': 0,
    'far from the times of its neighbours': 0,
  };
  /** The first skipped lines. */
  readonly examples: SkippedLine[] = [];
  /** Requests whose arrival is known: by its own time, or by the end and the duration. */
  withArrival = 0;
  /** Requests with a duration above a day, which counts as unknown. */
  tooLongDurations = 0;
  /** Requests that took longer than lines are sorted, so that their arrival had to be moved. */
  movedArrivals = 0;
  /** Requests with a method and a path, and with a status. */
  withTarget = 0;
  withStatus = 0;
  /** Requests whose end is known, if the ends are needed. */
  withEnd = 0;

  skip(skipped: SkippedLine): void {
    this.skipped[skipped.reason]++;
    if (this.examples.length < MAX_EXAMPLES) this.examples.push(skipped);
  }
}

/** The fields that every replay needs. */
const USUAL_FIELDS = ['time', 'started', 'duration', 'address', 'request', 'method', 'path', 'status'] as const;
const [TIME, STARTED, DURATION, REQUEST, METHOD, PATH, STATUS] = [0, 1, 2, 4, 5, 6, 7];

/** What readers of entries share. */
export interface EntryReaderParts {
  readonly file: string;
  readonly format: LogFormat;
  readonly identities: Identities;
  readonly routes: Routes;
  readonly counts: ReadingCounts;
  readonly sink: EntrySink;
  /** Whether the ends of requests are needed. */
  readonly needsEnds: boolean;
}

/** Makes requests of the lines of one file. */
export class EntryReader implements LineReceiver {
  readonly #parts: EntryReaderParts;
  readonly #parser: LineParser;
  readonly #spans: Int32Array;
  readonly #packer: FieldPacker;
  readonly #times = new TimeReader();
  /** Undefined if the ends of requests are not needed. */
  readonly #durations: DurationReader | undefined;
  readonly #durationUnit: number;
  readonly #isTimeEnd: boolean;
  #line = 0;
  /** How much later than its arrival the last request is decided. */
  #movedMicros = 0;
  readonly #guard = new JumpGuard({
    accept: (line) => this.#acceptSuspect(line),
    reject: (line) => this.#rejectSuspect(line),
  });

  constructor(parts: EntryReaderParts) {
    const { format, identities } = parts;
    const fields: FieldName[] = [...new Set<FieldName>([...USUAL_FIELDS, ...identities.fields])];
    this.#parts = parts;
    this.#parser = format.parser(fields);
    this.#spans = new Int32Array(2 * fields.length);
    this.#packer = identities.packer(format, fields);
    this.#durationUnit = DURATION_UNITS[format.durationUnit];
    this.#isTimeEnd = format.timeIs === 'end';
    this.#durations = parts.needsEnds ? new DurationReader(format, fields) : undefined;
  }

  line(bytes: Buffer, start: number, end: number): void {
    const { counts } = this.#parts;
    const spans = this.#spans;
    counts.lines++;
    this.#line++;
    if (!this.#parser.parse(bytes, start, end, spans)) {
      if (this.#parser.isRemark?.(bytes, start) !== true) this.#skip('another format', bytes, start, end);
      return;
    }
    const micros = this.#arrival(bytes, spans);
    if (Number.isNaN(micros)) return this.#skip('no valid time', bytes, start, end);
    if (this.#guard.passes(micros)) return this.#accept(micros, bytes, start, end);
    const held = { micros, movedMicros: this.#movedMicros, line: this.#line };
    const own = spans.map((at) => (at === -1 ? -1 : at - start));
    this.#guard.holdBack({ ...held, bytes: Buffer.from(bytes.subarray(start, end)), spans: own });
  }

  /** The latest arrival so far, in microseconds since 1970; `-Infinity` before the first. */
  get latestMicros(): number {
    return this.#guard.latestMicros;
  }

  /** Decides on the lines that were held back. Call it after the last line. */
  end(): void {
    this.#guard.end();
  }

  /** Makes a request of the line that was parsed last. */
  #accept(micros: number, bytes: Buffer, start: number, end: number): void {
    const { counts, sink } = this.#parts;
    const spans = this.#spans;
    counts.requests++;
    // Decided here and not where requests are sorted, so that it does not matter in which parts a log is read.
    if (micros < this.#guard.latestMicros - WINDOW_MICROS) {
      counts.late++;
      return;
    }
    const length = this.#packer.pack(bytes, start, end, spans);
    const duration = this.#durations === undefined ? 0 : this.#duration(this.#durations, bytes, spans);
    const target = this.#target(bytes, spans);
    sink.take(micros, this.#packer.bytes, length, target, this.#status(bytes, spans), duration);
  }

  #acceptSuspect({ micros, movedMicros, bytes, spans }: SuspectLine): void {
    this.#spans.set(spans);
    this.#movedMicros = movedMicros;
    this.#accept(micros, bytes, 0, bytes.length);
  }

  #rejectSuspect({ line, bytes }: SuspectLine): void {
    const reason = 'far from the times of its neighbours';
    this.#parts.counts.skip({ file: this.#parts.file, line, reason, text: shownLine(bytes, 0, bytes.length) });
  }

  longLine(): void {
    this.#parts.counts.lines++;
    this.#line++;
    this.#parts.counts.skip({ file: this.#parts.file, line: this.#line, reason: 'too long', text: '' });
  }

  #skip(reason: SkipReason, bytes: Buffer, start: number, end: number): void {
    this.#parts.counts.skip({ file: this.#parts.file, line: this.#line, reason, text: shownLine(bytes, start, end) });
  }

  #arrival(bytes: Buffer, spans: Int32Array): number {
    const { counts } = this.#parts;
    const isStarted = spans[2 * STARTED] !== -1;
    const field = isStarted ? STARTED : TIME;
    const micros = spans[2 * field] === -1 ? NaN : this.#times.read(bytes, spans[2 * field]!, spans[2 * field + 1]!);
    this.#movedMicros = 0;
    if (Number.isNaN(micros)) return NaN;
    if (isStarted || !this.#isTimeEnd) {
      counts.withArrival++;
      return micros;
    }
    if (spans[2 * DURATION] === -1) return micros;
    const duration = decimalTimes(this.#durationUnit, bytes, spans[2 * DURATION]!, spans[2 * DURATION + 1]!);
    if (!isDuration(duration)) {
      if (duration > 0) counts.tooLongDurations++;
      return micros;
    }
    counts.withArrival++;
    const moved = Math.max(0, duration - MAX_EARLIER_MICROS);
    if (moved > 0) counts.movedArrivals++;
    this.#movedMicros = moved;
    return micros - duration + moved;
  }

  #duration(durations: DurationReader, bytes: Buffer, spans: Int32Array): number {
    const micros = durations.read(bytes, spans);
    if (Number.isNaN(micros)) return 0;
    this.#parts.counts.withEnd++;
    return micros - this.#movedMicros;
  }

  #target(bytes: Buffer, spans: Int32Array): Target {
    const { counts, routes } = this.#parts;
    if (spans[2 * REQUEST] !== -1) {
      counts.withTarget++;
      return routes.ofRequest(bytes, spans[2 * REQUEST]!, spans[2 * REQUEST + 1]!);
    }
    const hasPath = spans[2 * PATH] !== -1;
    if (hasPath) counts.withTarget++;
    const method = hasPath ? spans[2 * METHOD]! : -1;
    return routes.ofParts(bytes, [method, spans[2 * METHOD + 1]!], [spans[2 * PATH]!, spans[2 * PATH + 1]!]);
  }

  #status(bytes: Buffer, spans: Int32Array): number {
    const at = spans[2 * STATUS]!;
    if (at === -1) return 0;
    const status = (bytes[at]! - 48) * 100 + (bytes[at + 1]! - 48) * 10 + (bytes[at + 2]! - 48);
    if (!(status >= 100 && status <= 599)) return 0;
    this.#parts.counts.withStatus++;
    return status;
  }
}
