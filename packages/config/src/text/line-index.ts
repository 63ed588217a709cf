import { placeAt, type Place } from '../place.ts';

/** Finds line and column of offsets in a text. */
export class LineIndex {
  readonly #starts: number[] = [0];

  constructor(text: string) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1);
  }

  /** The place of an offset in UTF-16 code units. */
  placeOf(offset: number): Place {
    let low = 0;
    let high = this.#starts.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.#starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return placeAt(low + 1, offset - this.#starts[low]! + 1);
  }
}
