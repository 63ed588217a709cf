import type { Wait } from './wait-list.ts';

/** A promise that its deadline may settle first, and the wait for it: every request to a store far away makes one. */
export abstract class Pending<T> implements Wait {
  readonly outcome: Promise<T>;
  dueMs = 0;
  isIn = false;
  before: Wait | undefined = undefined;
  after: Wait | undefined = undefined;
  resolve!: (value: T | PromiseLike<T>) => void;
  reject!: (error: unknown) => void;

  constructor() {
    this.outcome = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  abstract miss(): void;
}
