/**
 * Settles a promise once, and then forgets it: what is kept until the body of a response has ended must not keep the response,
 * which may be garbage-collected before.
 */
export class Delivery<T> {
  #promise: { resolve(value: T): void; reject(error: unknown): void } | undefined;

  /** Returns a promise for what is delivered. */
  promise(): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#promise = { resolve, reject };
    });
  }

  resolve(value: T): void {
    this.#promise?.resolve(value);
    this.#promise = undefined;
  }

  reject(error: unknown): void {
    this.#promise?.reject(error);
    this.#promise = undefined;
  }
}
