import type { Uncharged } from './uncharged.ts';

/** The numbers of a limit that count in an outage. */
interface OutageNumbers {
  readonly gateways: number;
  readonly intervalTicks: number;
  readonly fitTicks: number;
  readonly overdraftTicks: number;
}

/** What a process knows of the bucket when an outage begins. */
interface BeforeOutage {
  readonly uncharged: Uncharged;
  /** The TAT at the last answer, and when it came. */
  readonly viewTicks: number;
  readonly viewAtTicks: number;
}

/**
 * One bucket while Redis does not answer, at a limit with the failure policy `local`. Each process lets its share of the
 * rate through: GCRA with the emission interval N·T, and with the overdraft as its burst.
 */
export class LocalOutage {
  readonly #startTicks: number;
  readonly #gateways: number;
  /** The TAT of the own share. All its increments are N times as long as those of the limit. */
  #tatTicks: number;
  /** The increments of the limit that were spent in the outage. */
  #spentTicks = 0;

  /**
   * @param startTicks - When it began.
   * @param before - What the process let through before. It is the first use of the own share. So is what the bucket had
   * above its burst at the last answer: a part of it is the overdraft of this process, and while the others go on to spend
   * their shares, it does not refill at the whole rate.
   */
  constructor(startTicks: number, { gateways, fitTicks, overdraftTicks }: OutageNumbers, before: BeforeOutage) {
    const { uncharged, viewTicks, viewAtTicks } = before;
    this.#startTicks = startTicks;
    this.#gateways = gateways;
    this.#tatTicks = startTicks + uncharged.totalTicks * gateways;
    if (viewTicks <= viewAtTicks + fitTicks) return;
    const usedTicks = Math.min(overdraftTicks, viewTicks - viewAtTicks - fitTicks + uncharged.totalTicks);
    this.#tatTicks = Math.max(this.#tatTicks, viewAtTicks + usedTicks * gateways);
  }

  /** Returns how long an increment has to wait; 0 when it fits. */
  waitFor(incrementTicks: number, nowTicks: number, { overdraftTicks }: OutageNumbers): number {
    const levelTicks = Math.max(0, this.#tatTicks - nowTicks);
    return Math.max(0, levelTicks + (incrementTicks - overdraftTicks) * this.#gateways);
  }

  /** What the process let through in the outage. */
  get spentTicks(): number {
    return this.#spentTicks;
  }

  spend(incrementTicks: number, nowTicks: number): void {
    this.#tatTicks = Math.max(this.#tatTicks, nowTicks) + incrementTicks * this.#gateways;
    this.#spentTicks += incrementTicks;
  }

  /**
   * Turns what was spent in the outage into a charge, after a first answer. The rate has refilled a part of it. The shared
   * TAT did not rise meanwhile, so it is raised to where all processes would have brought it by spending like this one.
   *
   * @param viewTicks - The TAT before the outage, by the clock of the process.
   * @param fellTicks - By how much somebody lowered it since, such as by a reset.
   */
  settle(uncharged: Uncharged, { nowTicks, viewTicks, fellTicks }: OutageEnd): void {
    const restTicks = Math.floor(Math.max(0, this.#tatTicks - nowTicks) / this.#gateways);
    const outageTicks = nowTicks - this.#startTicks;
    const allSpentTicks = Math.min(outageTicks, this.#spentTicks * this.#gateways);
    const startTicks = Math.max(viewTicks, this.#startTicks);
    if (restTicks > 0) uncharged.add(restTicks, nowTicks);
    uncharged.ownTatTicks = Math.max(uncharged.ownTatTicks, startTicks - fellTicks + allSpentTicks + restTicks);
  }
}

interface OutageEnd {
  readonly nowTicks: number;
  readonly viewTicks: number;
  readonly fellTicks: number;
}
