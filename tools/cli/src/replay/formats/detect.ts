import { UsageError } from '../../console/failure.ts';
import { addressIn, addressList, isUnixSocket } from '../entries/address-text.ts';
import { fieldText, shownLine } from '../entries/field-text.ts';
import { DurationReader } from '../entries/duration-reader.ts';
import { TimeReader, type Resolution } from '../entries/time-text.ts';
import { SAMPLE_LINES } from '../reading/beginning.ts';
import { LineSplitter } from '../reading/line-splitter.ts';
import { envelopes, type Envelope } from './envelope.ts';
import { JsonFormat } from './json-format.ts';
import type { DurationUnit, FieldName, LineParser, LogFormat } from './line-parser.ts';
import { PRESETS } from './presets.ts';
import { TemplateFormat } from './template.ts';
import { whyUnusable } from './unusable.ts';
import { columnsOf, W3cFormat } from './w3c-format.ts';

/** The options `--format` and `--field`. */
export interface FormatOptions {
  /** A name of {@link PRESETS}, `w3c`, or the text of a format: see {@link notated}. */
  readonly format: string | undefined;
  /** Where fields are in lines of JSON, such as `time=ts`. */
  readonly fields: readonly string[];
  /** The unit of durations, if it is not that of the format. */
  readonly durationUnit: DurationUnit | undefined;
}

/** A format, with what the first lines have shown. */
export interface DetectedFormat {
  readonly format: LogFormat;
  /** What a collector of logs has added to each line; undefined if nothing. */
  readonly envelope: Envelope | undefined;
  readonly resolution: Resolution;
  /** Whether most lines show how long their requests took. */
  readonly hasDurations: boolean;
  /** Whether a line shows for whom a proxy sent its request. */
  readonly isForwarded: boolean;
  /** The names of the fields of which most arrivals are made, such as `$msec − $request_time`. */
  readonly timeField: string;
  /** The time of the first line, in microseconds since 1970. */
  readonly firstMicros: number;
}

const FIELDS = ['time', 'started', 'duration', 'address', 'request', 'method', 'path', 'status'];
const FORWARDED = 'header:x-forwarded-for';
/** The fields by which formats are compared. */
const COMPARED = [...FIELDS, FORWARDED];
const [TIME, STARTED, DURATION] = [0, 1, 2];
const NAMES = [...new Set([...PRESETS.map(({ name }) => name), 'w3c'])];

/**
 * Finds the format of a log by its first lines.
 *
 * @param start - The beginning of the log, with its first lines.
 * @returns `undefined` for an empty log.
 * @throws {UsageError} If no format reads them, or if the first line is too long.
 */
export function detectFormat(file: string, start: Buffer, options: FormatOptions): DetectedFormat | undefined {
  const lines = firstLines(file, start);
  if (lines.length === 0) return undefined;
  const tried = [undefined, ...envelopes()].flatMap((envelope) => {
    const opened = openedBy(envelope, lines);
    if (opened === undefined) return [];
    return candidates(options, opened).map((format) => ({ format, envelope, ...outcomeOf(format, opened) }));
  });
  const best = tried.reduce((one, other) => (other.score > one.score ? other : one));
  if (best.read > 0) return best;
  const why = whyUnusable(lines);
  if (why !== undefined) throw new UsageError(`${file} is ${why}.`);
  const names = options.format === undefined ? 'no known format' : `not the format '${options.format}'`;
  throw new UsageError(
    `${file} has ${names}. Its first line is: ${shownLine(lines[0]!, 0, lines[0]!.length)}\nFormats: ${NAMES.join(', ')}, the text of a format of nginx, Apache, HAProxy or Envoy such as --format '$remote_addr [$time_local] "$request" $status', or for other JSON the names of its fields, such as --field time=at --field address=client.ip.`,
  );
}

/** Returns lines without an envelope, and those as they are that do not have it; undefined if none has it. */
function openedBy(envelope: Envelope | undefined, lines: readonly Buffer[]): readonly Buffer[] | undefined {
  if (envelope === undefined) return lines;
  let hasOpened = false;
  const opened = lines.map((line) => {
    let text = line;
    envelope.open(line, 0, line.length, (bytes, from, to) => {
      hasOpened = true;
      text = Buffer.from(bytes.subarray(from, to));
    });
    return text;
  });
  return hasOpened ? opened : undefined;
}

/** Each line counts for the time, and for each other field that can be what it is taken for. The first of equal formats wins. */
function outcomeOf(
  format: LogFormat,
  lines: readonly Buffer[],
): Omit<DetectedFormat, 'format' | 'envelope'> & { readonly read: number; readonly score: number } {
  const parser = format.parser(COMPARED);
  const spans = new Int32Array(2 * COMPARED.length);
  const [times, ends] = [new TimeReader(), new DurationReader(format, COMPARED)];
  const timeFields = new Map<string, number>();
  let [read, score, fractions, durations, firstMicros, isForwarded] = [0, 0, 0, 0, Infinity, false];
  for (const line of lines) {
    if (!parser.parse(line, 0, line.length, spans)) continue;
    const at = 2 * (spans[2 * STARTED] === -1 ? TIME : STARTED);
    const micros = spans[at] === -1 ? NaN : times.read(line, spans[at]!, spans[at + 1]!);
    if (Number.isNaN(micros)) continue;
    read++;
    // The time of the very first line may be a mistake.
    firstMicros = Math.min(firstMicros, micros);
    if (times.resolution === 'fraction') fractions++;
    const hasDuration = !Number.isNaN(ends.read(line, spans));
    if (hasDuration) durations++;
    const source = timeFieldOf(format, parser, hasDuration);
    timeFields.set(source, (timeFields.get(source) ?? 0) + 1);
    score += 1 + COMPARED.filter((name, i) => isPlausible(name, line, spans[2 * i]!, spans[2 * i + 1]!)).length;
    if (hasDuration) score++;
    const forwarded = 2 * COMPARED.indexOf(FORWARDED);
    // nginx writes `-` for a header that the request does not have.
    if (spans[forwarded + 1]! - spans[forwarded]! > 1) isForwarded = true;
  }
  const resolution = fractions > 0 ? 'fraction' : 'second';
  const [[timeField] = ['']] = [...timeFields].toSorted(([, a], [, b]) => b - a);
  return { read, score, firstMicros, resolution, isForwarded, hasDurations: durations > read / 2, timeField };
}

/** Returns the names of the fields of which the arrival of the last line is made. */
function timeFieldOf({ timeIs }: LogFormat, parser: LineParser, hasDuration: boolean): string {
  const [time, started, duration] = [TIME, STARTED, DURATION].map((field) => parser.sourceOf(field));
  if (started !== undefined) return started;
  return hasDuration && timeIs === 'end' ? `${time} − ${duration}` : time!;
}

function isPlausible(field: FieldName, line: Buffer, from: number, to: number): boolean {
  // A duration can be an end minus a start, and is looked at with them.
  if (from === -1 || field === 'duration') return false;
  const text = fieldText(line, from, to);
  if (field === 'status') return /^[1-5]\d\d$/.test(text);
  if (field !== 'address' && field !== FORWARDED) return true;
  const { last } = addressList(text);
  return isUnixSocket(last) || addressIn(last) !== undefined;
}

/** @param lines - In which a W3C log names its columns. */
function candidates(options: FormatOptions, lines: readonly Buffer[]): readonly LogFormat[] {
  const { durationUnit } = options;
  const formats = formatsOf(options, lines);
  return durationUnit === undefined ? formats : formats.map((each) => each.withUnit(durationUnit));
}

function formatsOf({ format, fields }: FormatOptions, lines: readonly Buffer[]): readonly LogFormat[] {
  const paths = new Map(fields.map(fieldPath));
  if (format !== undefined && /[$%]/.test(format)) return [new TemplateFormat('log_format', format)];
  if (format !== undefined && !NAMES.includes(format))
    throw new UsageError(
      `\`--format\` must be ${NAMES.join(', ')} or the text of a format of nginx, Apache, HAProxy or Envoy, but was '${format}'.`,
    );
  const columns = lines.map((line) => columnsOf(line.toString('latin1'))).find((each) => each !== undefined);
  const known = columns === undefined ? PRESETS : [...PRESETS, new W3cFormat(columns)];
  const named = format === undefined ? known : known.filter(({ name }) => name === format);
  if (paths.size === 0) return named;
  return named.filter((each) => each instanceof JsonFormat).map((each) => each.with(paths));
}

function fieldPath(text: string): [FieldName, string] {
  const at = text.indexOf('=');
  const [name, path] = [text.slice(0, Math.max(0, at)), text.slice(at + 1)];
  if ((FIELDS.includes(name) || name.startsWith('header:')) && path !== '') return [name, path];
  throw new UsageError(
    `\`--field\` must be one of ${FIELDS.join(', ')} or header:NAME, with a path in the JSON after it, but was '${text}'. For example --field address=client.ip.`,
  );
}

function firstLines(file: string, start: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  let hasLongLine = false;
  const splitter = new LineSplitter({
    line: (bytes, from, to) => {
      if (lines.length < SAMPLE_LINES) lines.push(Buffer.from(bytes.subarray(from, to)));
    },
    longLine: () => void (hasLongLine = true),
  });
  splitter.push(start);
  // A log of one line may have no line end. Otherwise the last line is only a part.
  if (lines.length === 0) splitter.end();
  if (lines.length === 0 && hasLongLine)
    throw new UsageError(`${file} has no known format: its first line is longer than 64 KiB.`);
  return lines;
}
