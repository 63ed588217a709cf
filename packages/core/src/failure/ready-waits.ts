import { reasonOf, SluiceError } from '../checks/errors.ts';
import type { Store } from '../store/store.ts';
import { Deadlines } from '../time/deadlines.ts';
import { closed } from './store-gate.ts';
import type { Time } from '../time/time.ts';

/** The store's own error at its timeout explains why it is not ready, so it gets this much time to arrive first. */
const GRACE_MS = 100;

/** Waits until a store is ready, or until the limiter is closed. */
export class ReadyWaits {
  readonly #store: Store;
  readonly #time: Time;
  readonly #waits = new Set<Deadlines>();
  #isEnded = false;

  constructor(store: Store, time: Time) {
    this.#store = store;
    this.#time = time;
  }

  /** Resolves when the store is ready; at once when it has no `ready` method. Rejects with a SluiceError. */
  async wait(timeoutMs: number): Promise<void> {
    const deadlines = new Deadlines(timeoutMs + GRACE_MS, this.#time);
    this.#waits.add(deadlines);
    try {
      await deadlines.race(this.#ready(timeoutMs), () => (this.#isEnded ? closed() : notReady(timeoutMs)));
    } catch (cause) {
      throw cause instanceof SluiceError ? cause : failed(cause);
    } finally {
      this.#waits.delete(deadlines);
    }
  }

  end(): void {
    this.#isEnded = true;
    for (const deadlines of this.#waits) deadlines.expireAll();
  }

  async #ready(timeoutMs: number): Promise<void> {
    await this.#store.ready?.({ timeoutMs });
  }
}

function notReady(timeoutMs: number): SluiceError {
  return new SluiceError('ERR_STORE_UNAVAILABLE', `The store did not become ready within ${timeoutMs} ms.`);
}

function failed(cause: unknown): SluiceError {
  return new SluiceError('ERR_STORE_UNAVAILABLE', `The store did not become ready (${reasonOf(cause)}).`, { cause });
}
