import type { Key } from '../keys/key.ts';
import type { AnyKind, KindParts } from '../kinds/kind.ts';
import type { Levels } from './levels.ts';
import type { Treatment } from './treatment.ts';

/** A validated limit, with its numbers in ticks. */
export interface Limit<Request = unknown> extends Omit<KindParts, 'slots' | 'overshoot'> {
  readonly name: string;
  readonly kind: AnyKind;
  readonly key: Key<Request>;
  /** The levels of ids with these numbers. */
  readonly levels: Levels;
  readonly disabled: boolean;
  readonly treatment: Treatment;
}
