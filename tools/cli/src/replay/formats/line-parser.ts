/**
 * Names a value of a log line: `time`, `started` (when the request arrived), `duration`, `address`, `request` (`GET /path
 * HTTP/1.1`), `method`, `path`, `status`, `header:NAME` in lower case, or `json:PATH`.
 */
export type FieldName = string;

/** Returns whether a field is a header. */
export function isHeader(field: FieldName): boolean {
  return field.startsWith('header:');
}

/** Finds values in the lines of one format. */
export interface LineParser {
  /**
   * Finds the values of a line, and writes for field number i its first byte to `spans[2 * i]` and the byte after its
   * last to `spans[2 * i + 1]`, or -1 to both if the line does not have it.
   *
   * @returns Whether the line has this format.
   */
  parse(bytes: Buffer, start: number, end: number, spans: Int32Array): boolean;

  /** Whether a line that does not have this format is a remark of the server about the log, and no request is missing. */
  isRemark?(bytes: Buffer, start: number): boolean;

  /** Returns how the log itself calls field number i, which may have several names; undefined if the last line lacks it. */
  sourceOf(i: number): string | undefined;
}

/** The units in which logs write durations, in microseconds. */
export const DURATION_UNITS = { s: 1_000_000, ms: 1000, us: 1, ns: 0.001 } as const;
export type DurationUnit = keyof typeof DURATION_UNITS;

/** A format of log lines. */
export interface LogFormat {
  /** As in `--format`. */
  readonly name: string;
  /** Whether its lines are JSON, so that `json:` fields exist. */
  readonly isJson: boolean;
  readonly durationUnit: DurationUnit;
  /** Whether `time` is the end of a request, or its start. */
  readonly timeIs: 'end' | 'start';
  /** The headers that it names itself, as fields. A format of JSON may have others too. */
  readonly headers: readonly FieldName[];
  /** Returns the same format with durations in another unit. */
  withUnit(unit: DurationUnit): LogFormat;
  /** Creates the parser for some fields. */
  parser(fields: readonly FieldName[]): LineParser;
}
