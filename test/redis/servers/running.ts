/** What a test has started and must not leave behind. */
export interface Running {
  close(): Promise<void>;
  /** What it printed, for a test that failed. */
  report?(): string;
}

class RunningList {
  readonly #all = new Set<Running>();

  add(entry: Running): void {
    this.#all.add(entry);
  }

  /** What runs now. */
  now(): ReadonlySet<Running> {
    return new Set(this.#all);
  }

  /** Starts something that no test ends: it ends with this process. */
  async leftRunning<T>(start: () => Promise<T>): Promise<T> {
    const before = this.now();
    const started = await start();
    for (const entry of this.#all) if (!before.has(entry)) this.#all.delete(entry);
    return started;
  }

  /** Ends all but these, the youngest first. */
  async closeAllBut(kept: ReadonlySet<Running> = new Set()): Promise<void> {
    const ended = [...this.#all].filter((entry) => !kept.has(entry)).toReversed();
    for (const entry of ended) this.#all.delete(entry);
    await Promise.all(ended.map((entry) => entry.close()));
  }
}

/** All that this process has started. */
export const running: RunningList = new RunningList();
