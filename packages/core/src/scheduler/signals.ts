import type { ScheduledCall } from './scheduled-call.ts';

/**
 * Listens once to each signal, however many calls have it: to add a listener, Node looks at all that the signal has, and it
 * warns of more than ten.
 */
export class Signals {
  readonly #calls = new Map<AbortSignal, ScheduledCall | Set<ScheduledCall>>();
  readonly #aborted: (call: ScheduledCall) => void;

  /** @param aborted - Called for each call whose signal is aborted. */
  constructor(aborted: (call: ScheduledCall) => void) {
    this.#aborted = aborted;
  }

  add(signal: AbortSignal, call: ScheduledCall): void {
    const known = this.#calls.get(signal);
    if (known instanceof Set) return void known.add(call);
    this.#calls.set(signal, known === undefined ? call : new Set([known, call]));
    if (known === undefined) signal.addEventListener('abort', this);
  }

  /** Leaves no listener on a signal without calls. */
  delete(signal: AbortSignal, call: ScheduledCall): void {
    const known = this.#calls.get(signal);
    if (known instanceof Set) {
      known.delete(call);
      if (known.size > 0) return;
    }
    this.#calls.delete(signal);
    signal.removeEventListener('abort', this);
  }

  /** Receives the event of a signal. */
  handleEvent({ currentTarget }: Event): void {
    const known = this.#calls.get(currentTarget as AbortSignal);
    if (known === undefined) return;
    for (const call of known instanceof Set ? [...known] : [known]) this.#aborted(call);
  }
}
