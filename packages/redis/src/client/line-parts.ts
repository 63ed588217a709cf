import type { Clock } from '@sluice/core';
import type { Scheduler } from '@sluice/core/kit';
import type { Counts } from './counts.ts';
import type { Script } from './script-client.ts';

/** The dependencies that all parts of a line share. */
export interface LineParts {
  readonly scripts: readonly Script[];
  /** The process's own clock. Only differences of its readings are used. */
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly counts: Counts;
}
