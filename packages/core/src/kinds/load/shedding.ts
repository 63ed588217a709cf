import { shownName } from '../../checks/errors.ts';
import { shedChannel } from '../../events/event.ts';
import type { LoadUser } from './load-source.ts';

/** What subscribers of the diagnostics channel `sluice:shed` receive. */
export interface ShedMessage {
  /** The name of the load limit. */
  readonly limit: string;
  /** `shedding`: the first request is denied. `calm`: the level is 0 again. */
  readonly state: 'shedding' | 'calm';
  /** The level of the load. */
  readonly level: number;
  /** With `calm`: how long requests were shed, in milliseconds, and how many. */
  readonly durationMs?: number;
  readonly count?: number;
}

/**
 * Reports when a load limit begins to shed requests, and when it has ended. It has ended when the level is 0: until then
 * the load is still high, and another request may be shed at any time.
 */
export class Shedding {
  readonly #user: LoadUser;
  #beganMicros: number | undefined;
  #count = 0;

  constructor(user: LoadUser) {
    this.#user = user;
  }

  /** Counts a request that is shed. */
  add(level: number): void {
    this.#count++;
    if (this.#beganMicros !== undefined) return;
    const { limit, time, emit } = this.#user;
    this.#beganMicros = time.nowMicros();
    const message =
      `Limit "${shownName(limit)}" sheds requests, the least important first: this process has been too busy for some seconds. ` +
      'Look for slow requests, or add processes. To shed nothing, let `enabled` of its load return false, or disable the limit.';
    emit({ type: 'shedding-began', limit, level, message });
    publish({ limit, state: 'shedding', level });
  }

  /** Ends what has begun. */
  end(): void {
    if (this.#beganMicros === undefined) return;
    const { limit, time, emit } = this.#user;
    const durationMs = (time.nowMicros() - this.#beganMicros) / 1000;
    const count = this.#count;
    this.#beganMicros = undefined;
    this.#count = 0;
    const message = `Limit "${shownName(limit)}" sheds no more requests. It shed ${count} in ${Math.ceil(durationMs / 1000)} s.`;
    emit({ type: 'shedding-ended', limit, durationMs, count, message });
    publish({ limit, state: 'calm', level: 0, durationMs, count });
  }
}

function publish(message: ShedMessage): void {
  if (shedChannel.hasSubscribers) shedChannel.publish(message);
}
