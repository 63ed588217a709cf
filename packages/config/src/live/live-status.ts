import type { SluiceError } from '@sluice/core';

/** How limits that are watched are doing. */
export interface LiveStatus {
  /** A hash of the content of what holds. */
  readonly version: string;
  /** Since when it holds. */
  readonly loadedAt: Date;
  /** When the sources were looked at last. */
  readonly checkedAt: Date;
  /** Why the sources were refused when they were read last; `undefined` while they are what holds. */
  readonly lastError: SluiceError | undefined;
  /** Since when they are refused. */
  readonly failingSince: Date | undefined;
}
