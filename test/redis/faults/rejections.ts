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

  get count(): number {
    return this.#count;
  }

  end(): void {
    process.off('unhandledRejection', this.#note);
    process.off('uncaughtException', this.#note);
  }
}
