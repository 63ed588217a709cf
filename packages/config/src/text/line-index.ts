import { positionAt, type Position } from '../nodes/position.ts';

const LINE_FEED = 0x0a;

/** Finds line and column of offsets in a text. */
export class LineIndex {
  /**
   * The offset of each line. In a plain array, 15 MB of line feeds would take a quarter of a parsing thread's memory.
   */
  readonly #starts: Uint32Array;

  constructor(text: string) {
    let lines = 1;
    for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) === LINE_FEED) lines++;
    const starts = (this.#starts = new Uint32Array(lines));
    for (let at = 0, line = 1; line < lines; at++) if (text.charCodeAt(at) === LINE_FEED) starts[line++] = at + 1;
  }

  /** Returns the position of an offset, which counts UTF-16 code units. */
  positionOf(offset: number): Position {
    let low = 0;
    let high = this.#starts.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.#starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return positionAt(low + 1, offset - this.#starts[low]! + 1);
  }
}
