/** The longest line that is read, in bytes. No request line of a usual server is longer. */
export const MAX_LINE_BYTES = 65_536;

/** What receives the lines of a file. */
export interface LineReceiver {
  /** A line is `bytes[start]` to `bytes[end - 1]`, without its end. The bytes are valid during the call only. */
  line(bytes: Buffer, start: number, end: number): void;
  /** A line was longer than 64 KiB, and was skipped. */
  longLine(): void;
}

const NEWLINE = 10;
const RETURN = 13;
/** The byte order mark of UTF-8, with which some editors and Windows tools begin a file. */
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** Splits chunks of bytes into lines, without making text of them. Needs memory for one line at most. */
export class LineSplitter {
  readonly #receiver: LineReceiver;
  /** The beginning of a line whose end has not been read yet. */
  readonly #begun = Buffer.allocUnsafe(MAX_LINE_BYTES + 1);
  #begunLength = 0;
  /** Whether no line has ended yet: the first may begin with a byte order mark. */
  #isFirst = true;
  /** Whether the rest of the current line is skipped. */
  #isSkipping = false;

  constructor(receiver: LineReceiver) {
    this.#receiver = receiver;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      if (this.#begunLength > 0 || this.#isSkipping) this.#finish(chunk.subarray(start, end));
      else this.#emit(chunk, start, end);
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  /** Ends the last line, if it has no line end. */
  end(): void {
    if (this.#begunLength > 0 || this.#isSkipping) this.#finish(Buffer.alloc(0));
  }

  #finish(rest: Buffer): void {
    this.#keep(rest);
    const [length, isSkipped] = [this.#begunLength, this.#isSkipping];
    this.#begunLength = 0;
    this.#isSkipping = false;
    if (isSkipped) this.#receiver.longLine();
    else this.#emit(this.#begun, 0, length);
  }

  #keep(part: Buffer): void {
    if (this.#isSkipping) return;
    if (this.#begunLength + part.length > MAX_LINE_BYTES) {
      this.#isSkipping = true;
      return;
    }
    this.#begunLength += part.copy(this.#begun, this.#begunLength);
  }

  #emit(bytes: Buffer, from: number, end: number): void {
    const start = this.#isFirst && hasByteOrderMark(bytes, from, end) ? from + BYTE_ORDER_MARK.length : from;
    this.#isFirst = false;
    if (end - start > MAX_LINE_BYTES) return this.#receiver.longLine();
    const last = end > start && bytes[end - 1] === RETURN ? end - 1 : end;
    if (last > start) this.#receiver.line(bytes, start, last);
  }
}

function hasByteOrderMark(bytes: Buffer, start: number, end: number): boolean {
  return end - start >= BYTE_ORDER_MARK.length && BYTE_ORDER_MARK.every((byte, i) => bytes[start + i] === byte);
}
