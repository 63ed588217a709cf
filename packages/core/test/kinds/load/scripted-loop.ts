import type { EventLoopUtilityFunction } from 'node:perf_hooks';

/** An event loop that is busy as the test says. */
export class ScriptedLoop {
  #idle = 0;
  #active = 0;

  /** Lets time pass in which the loop is busy for a part of it. */
  pass(ms: number, busy: number): void {
    this.#idle += ms * (1 - busy);
    this.#active += ms * busy;
  }

  readonly read: EventLoopUtilityFunction = (to, from) => {
    const idle = (to?.idle ?? this.#idle) - (from?.idle ?? 0);
    const active = (to?.active ?? this.#active) - (from?.active ?? 0);
    return { idle, active, utilization: active / (idle + active) };
  };
}
