import type { Outcome } from '../decision/decision.ts';
import type { FailurePolicy } from '../limits/failure-policy.ts';
import { DeniedIds } from './denied-ids.ts';
import { Histogram } from './histogram.ts';

/** What decided: the store, or a failure policy. */
export type DecidedBy = 'store' | FailurePolicy;

/** How many decisions there were of one kind. */
export interface DecidedCount {
  readonly outcome: Outcome;
  /** The store, or the failure policy that decided. */
  readonly by: DecidedBy;
  /** Whether the requests were let through whatever the decision. */
  readonly shadow: boolean;
  readonly count: number;
}

export const OUTCOMES: readonly Outcome[] = ['allowed', 'denied', 'unavailable'];
const DECIDED_BY: readonly DecidedBy[] = ['store', 'open', 'local', 'closed'];
/** The parts of a burst of which is counted how often they are used. */
export const PARTS_USED: readonly number[] = [0.5, 0.75, 0.9, 0.99];
/** The classes of the waits of queued requests, in seconds. */
export const QUEUE_BOUNDS: readonly number[] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 60];

/** The counts of one limit, as plain numbers: they are raised by each decision. */
export class LimitTally {
  /** By outcome, by what decided, and by whether the request was in shadow mode. */
  readonly decisions: number[] = Array.from({ length: OUTCOMES.length * DECIDED_BY.length * 2 }, () => 0);
  denials = 0;
  shadowDenials = 0;
  /** By the number of {@link PARTS_USED} that were used after a decision. */
  readonly used: number[] = [0, ...PARTS_USED.map(() => 0)];
  taken = 0;
  charged = 0;
  restricted = 0;
  refunded = 0;
  lost = 0;
  readonly waits: Histogram = new Histogram(QUEUE_BOUNDS);
  /** Undefined until somebody asks for them. */
  denied: DeniedIds | undefined;

  countDecision(outcome: Outcome, by: DecidedBy, shadow: boolean): void {
    this.decisions[placeOf(outcome, by, shadow)]!++;
  }

  countDenial(id: string, shadow: boolean): void {
    if (shadow) this.shadowDenials++;
    else this.denials++;
    this.denied?.add(id);
  }

  /** @param part - The part of the burst that was used after a decision, from 0 to 1. */
  countUse(part: number): void {
    let reached = 0;
    while (reached < PARTS_USED.length && part >= PARTS_USED[reached]!) reached++;
    this.used[reached]!++;
  }

  /** How often at least the part at a place of {@link PARTS_USED} was used; at place −1, any part. */
  reached(place: number): number {
    return this.used.slice(place + 1).reduce((sum, count) => sum + count, 0);
  }

  /** Returns how many decisions there were of each kind. Kinds without any are left out. */
  decided(): readonly DecidedCount[] {
    return OUTCOMES.flatMap((outcome) =>
      DECIDED_BY.flatMap((by) =>
        [false, true].flatMap((shadow): readonly DecidedCount[] => {
          const count = this.decisions[placeOf(outcome, by, shadow)]!;
          return count === 0 ? [] : [{ outcome, by, shadow, count }];
        }),
      ),
    );
  }
}

/** The place of a decision in `decisions`. */
function placeOf(outcome: Outcome, by: DecidedBy, shadow: boolean): number {
  const decided = OUTCOMES.indexOf(outcome) * DECIDED_BY.length + DECIDED_BY.indexOf(by);
  return 2 * decided + (shadow ? 1 : 0);
}
