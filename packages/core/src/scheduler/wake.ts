import type { Alarm, Time } from '../time/time.ts';

/** One alarm for the next thing that happens. While there is none, it does not keep the process alive. */
export class Wake {
  readonly #time: Time;
  readonly #run: () => void;
  #alarm: Alarm | undefined;
  #alarmMicros = Infinity;

  constructor(time: Time, run: () => void) {
    this.#time = time;
    this.#run = run;
  }

  /** @param nextMicros - `Infinity` if nothing is due. An alarm that is too early is kept: to set another one costs more. */
  set(nextMicros: number): void {
    if (nextMicros === Infinity) return this.#alarm?.unref();
    if (this.#alarmMicros <= nextMicros) return this.#alarm!.ref();
    this.#alarm?.cancel();
    this.#alarmMicros = nextMicros;
    const delayMs = Math.ceil((nextMicros - this.#time.nowMicros()) / 1000);
    this.#alarm = this.#time.alarm(delayMs, () => this.#rang());
  }

  #rang(): void {
    this.#alarm = undefined;
    this.#alarmMicros = Infinity;
    this.#run();
  }
}
