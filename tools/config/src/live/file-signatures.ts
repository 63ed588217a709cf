import type { Time } from '@sluice/core';
import { signaturesOf } from '../sources/source.ts';

/**
 * How long files must stay unchanged before they are read. Valid content is no sign that writing has ended: the first
 * half of a list may be a valid list. With a check every 500 ms, a change takes effect within about a second.
 */
const QUIET: Quiet = { quietMs: 250, looks: 40 };

interface Quiet {
  readonly quietMs: number;
  /** A file that never stops changing is read after this many checks, which take ten seconds. */
  readonly looks: number;
}

/** Detects changes of files by the file system's metadata of the files that the paths currently lead to. */
export class FileSignatures {
  readonly #paths: readonly string[];
  /** The files that these files name, with their signatures when they were read. */
  #named: ReadonlyMap<string, string> = new Map();
  readonly #time: Time;
  readonly #quiet: Quiet;

  constructor(paths: readonly string[], time: Time, quiet: Quiet = QUIET) {
    this.#paths = paths;
    this.#time = time;
    this.#quiet = quiet;
  }

  /** Replaces the files that these files name. Their signatures are those of the reading. */
  readonly follow = (named: ReadonlyMap<string, string>): void => {
    this.#named = named;
  };

  /** Returns the current signature. It changes when a file is written or replaced, or when a link leads elsewhere. */
  async now(): Promise<string> {
    return `${await signaturesOf(this.#paths)}\n${await signaturesOf([...this.#named.keys()])}`;
  }

  /** Returns the signature of a reading that followed a signature: what is named may be other files than before. */
  asRead(before: string): string {
    return `${before.split('\n')[0]!}\n${[...this.#named.values()].join(' ')}`;
  }

  /** Waits until the files have stopped changing, and returns their signature. */
  async quiet(): Promise<string> {
    let before = await this.now();
    for (let look = 0; look < this.#quiet.looks; look++) {
      await this.#wait();
      const signature = await this.now();
      if (signature === before) break;
      before = signature;
    }
    return before;
  }

  // Unreferenced: watching must not keep the process alive.
  #wait(): Promise<void> {
    return new Promise((resolve) => this.#time.alarm(this.#quiet.quietMs, resolve).unref());
  }
}
