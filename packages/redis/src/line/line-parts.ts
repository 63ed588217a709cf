import type { Clock } from '@sluice/core';
import type { Scheduler } from '@sluice/core/kit';
import type { Counts } from './counts.ts';
import type { Script } from './line.ts';

/** What all parts of a line share. */
export interface LineParts {
  readonly scripts: readonly Script[];
  /** The process's own time; only differences of it count. */
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly counts: Counts;
}
