import { setTimeout } from 'node:timers/promises';
import { signatureOf } from '../sources/file.ts';

/**
 * How long files must stay the same to be taken for finished, whether what stands in them is good or bad: half of a
 * list may be a good list. With a look every 500 ms a change holds within a second.
 */
const QUIET: Quiet = { quietMs: 250, looks: 40 };

interface Quiet {
  readonly quietMs: number;
  /** A file that is written all the time is read nevertheless after so many looks: ten seconds. */
  readonly looks: number;
}

/** Tells whether files have changed, by what the file system says of those that their paths lead to now. */
export class FileSignatures {
  readonly #paths: readonly string[];
  readonly #quiet: Quiet;

  constructor(paths: readonly string[], quiet: Quiet = QUIET) {
    this.#paths = paths;
    this.#quiet = quiet;
  }

  /** Differs when a file was written, replaced, or is reached over another link. */
  async now(): Promise<string> {
    return (await Promise.all(this.#paths.map(signatureOf))).join(' ');
  }

  /** Waits until nothing is written for a moment. */
  async quiet(): Promise<string> {
    let before = await this.now();
    for (let look = 0; look < this.#quiet.looks; look++) {
      // Without keeping the process alive.
      await setTimeout(this.#quiet.quietMs, undefined, { ref: false });
      const signature = await this.now();
      if (signature === before) break;
      before = signature;
    }
    return before;
  }
}
