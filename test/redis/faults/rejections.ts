/** Counts rejections that nobody handles, and exceptions that nobody catches, until it is ended. */
export class Rejections {
  #count = 0;
  readonly #note = (): void => {
    this.#count += 1;
  };

  constructor() {
    process.on('unhandledRejection', this.#note);
    process.on('uncaughtException', this.#note);
  }

  end(): number {
    process.off('unhandledRejection', this.#note);
    process.off('uncaughtException', this.#note);
    return this.#count;
  }
}
