/**
 * Adds up the time of several stretches: by the clock on the wall, and what the process got of its processors in it. The
 * second is the same whatever else the machine does; it counts V8's helper threads too.
 */
export class Stopwatch {
  #cpuMicros = 0;
  #elapsedMs = 0;
  #startMs = 0;
  /** @type {NodeJS.CpuUsage} */
  #startCpu = { user: 0, system: 0 };

  start() {
    this.#startCpu = process.cpuUsage();
    this.#startMs = performance.now();
  }

  stop() {
    this.#elapsedMs += performance.now() - this.#startMs;
    const { user, system } = process.cpuUsage(this.#startCpu);
    this.#cpuMicros += user + system;
  }

  get times() {
    return { cpuMicros: this.#cpuMicros, elapsedMs: this.#elapsedMs };
  }
}
