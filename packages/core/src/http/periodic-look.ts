import { systemTime } from '../time/system-time.ts';

const LOOK_MS = 250;

/** Looks every 250 ms at what is open, as long as something is. It keeps no process alive. */
export class PeriodicLook {
  readonly #look: () => boolean;
  #isLooking = false;

  /** @param look - Returns whether something is open. */
  constructor(look: () => boolean) {
    this.#look = look;
  }

  /** Begins to look, unless it does already. */
  begin(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    // By the time of the system, which sockets have, too.
    systemTime.alarm(LOOK_MS, () => this.#run()).unref();
  }

  #run(): void {
    this.#isLooking = false;
    if (this.#look()) this.begin();
  }
}
