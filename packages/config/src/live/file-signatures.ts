import { setTimeout } from 'node:timers/promises';
import { signatureOf } from '../sources/file.ts';

/** How long a file must stay the same to be taken for finished. */
const QUIET_MS = 50;
/** A file that is written all the time is read nevertheless after so many looks. */
const LOOKS = 10;

/** Tells whether files have changed, by what the file system says of those that their paths lead to now. */
export class FileSignatures {
  readonly #paths: readonly string[];

  constructor(paths: readonly string[]) {
    this.#paths = paths;
  }

  /** Differs when a file was written, replaced, or is reached over another link. */
  async now(): Promise<string> {
    return (await Promise.all(this.#paths.map(signatureOf))).join(' ');
  }

  /** Waits until nothing is written for a moment. */
  async quiet(): Promise<string> {
    let before = await this.now();
    for (let look = 0; look < LOOKS; look++) {
      await pause(QUIET_MS);
      const signature = await this.now();
      if (signature === before) break;
      before = signature;
    }
    return before;
  }
}

/** Waits without keeping the process alive. */
export async function pause(ms: number): Promise<void> {
  await setTimeout(ms, undefined, { ref: false });
}
