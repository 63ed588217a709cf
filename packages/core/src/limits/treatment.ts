import type { StoreTreatment } from '../store/lease-description.ts';
import type { FailurePolicy } from './failure-policy.ts';

/**
 * How decisions by a limit are treated. In a batch for a store it is plain data. Each is made by this constructor, so that all
 * have one hidden class, whose properties V8 finds fast.
 */
export class Treatment implements StoreTreatment {
  /** Whether a store decides the limit's transactions as they are: it neither borrows, nor holds anything, nor is a load. */
  readonly isPlain: boolean;
  readonly onFailure: FailurePolicy;
  readonly hidden: boolean;
  /**
   * What a transaction stands for in a batch: all of its limit, or one of the buckets of a limit that borrows. The
   * ceiling and the pool have no result of their own.
   */
  readonly part: 'whole' | 'assured' | 'ceiling' | 'pool';
  /** Of a limit that borrows, until its transaction is replaced by those for a store. Otherwise undefined. */
  readonly borrowing: Borrows | undefined;
  /** Whether a denial is due to the service and not to the client: the response is then a 503. */
  readonly sheds: boolean;
  /** How what its decisions take is held until a release, as its kind reads it. Undefined for tokens. Plain data. */
  readonly holding: object | undefined;
  /** As in a {@link StoreTreatment}. Undefined for a limit that is decided exactly. */
  readonly overshoot: number | undefined;

  constructor({ isPlain, onFailure, hidden, part, borrowing, sheds, holding, overshoot }: Treatment) {
    this.isPlain = isPlain;
    this.onFailure = onFailure;
    this.hidden = hidden;
    this.part = part;
    this.borrowing = borrowing;
    this.sheds = sheds;
    this.holding = holding;
    this.overshoot = overshoot;
  }
}

/** What every room may know of a limit that borrows. */
export interface Borrows {
  /** The name under which the ceilings of its ids are stored. */
  readonly ceilingName: string;
}

/** Whether a limit is decided exactly by every store. */
export function isExact(treatment: StoreTreatment | undefined): boolean {
  return treatment?.overshoot === undefined;
}

/** Returns the parts of a treatment by which a store decides. */
export function storedParts({ holding, overshoot }: Treatment): readonly unknown[] {
  return [holding, overshoot];
}

/** Returns a copy of a treatment with other values of some properties. */
export function treatedAs(treatment: Treatment, changes: Partial<Treatment>): Treatment {
  return new Treatment(Object.assign({}, treatment, changes));
}
