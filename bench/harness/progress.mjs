const LINE_EVERY_MS = 10_000;

/** Tells on stderr how far a part is: on a terminal in one line that changes, elsewhere now and then. */
export class Progress {
  #name;
  #total;
  #done = 0;
  #startMs = performance.now();
  #lastLineMs = 0;

  /**
   * @param {string} name
   * @param {number} total How many steps there are.
   */
  constructor(name, total) {
    this.#name = name;
    this.#total = total;
  }

  /** @param {string} what What the next step is. */
  next(what) {
    const elapsedMs = performance.now() - this.#startMs;
    const left = this.#done === 0 ? '' : `, ${duration((elapsedMs / this.#done) * (this.#total - this.#done))} left`;
    this.#done++;
    this.#write(`${this.#name}: ${this.#done} of ${this.#total}${left}: ${what}`);
  }

  end() {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  }

  /** @param {string} text */
  #write(text) {
    if (process.stderr.isTTY) return process.stderr.write(`\r\x1b[K${text}`);
    const nowMs = performance.now();
    if (this.#lastLineMs !== 0 && nowMs - this.#lastLineMs < LINE_EVERY_MS) return false;
    this.#lastLineMs = nowMs;
    return process.stderr.write(`${text}\n`);
  }
}

/** @param {number} ms */
function duration(ms) {
  const seconds = Math.round(ms / 1000);
  return seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
