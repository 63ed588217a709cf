import type { FileSignatures } from '@sluice/config/kit';
import type { Time } from '@sluice/core';
import type { Alarm } from '@sluice/core/store';

/** Calls a function when files have changed, and are quiet again. */
export class LiveFiles {
  readonly #files: FileSignatures;
  readonly #time: Time;
  readonly #changed: () => Promise<void>;
  #alarm: Alarm | undefined;
  #seen: string | undefined;

  /** @param changed - Never rejects. */
  constructor(files: FileSignatures, time: Time, changed: () => Promise<void>) {
    this.#files = files;
    this.#time = time;
    this.#changed = changed;
  }

  /** Begins to look. Looking does not keep the process alive. */
  async start(everyMs: number): Promise<void> {
    this.#seen = await this.#files.now();
    this.#lookAgain(everyMs);
  }

  stop(): void {
    this.#alarm?.cancel();
    this.#alarm = undefined;
    this.#seen = undefined;
  }

  #lookAgain(everyMs: number): void {
    this.#alarm = this.#time.alarm(everyMs, () => void this.#look(everyMs));
    this.#alarm.unref();
  }

  async #look(everyMs: number): Promise<void> {
    if ((await this.#files.now()) !== this.#seen) {
      const quiet = await this.#files.quiet();
      if (this.#seen === undefined) return;
      this.#seen = quiet;
      await this.#changed();
      if (this.#seen !== undefined) this.#seen = this.#files.asRead(quiet);
    }
    if (this.#seen !== undefined) this.#lookAgain(everyMs);
  }
}
