import type { SluiceError } from '@sluice/core';

/** The state of watched limits, returned by {@link LiveLimits.status} and {@link LiveLimits.reload}. */
export interface LiveStatus {
  /** A hash of the content in use. The same content has the same version in every process. */
  readonly version: string;
  /** When the content in use was loaded. */
  readonly loadedAt: Date;
  /** When the sources were last checked for changes. */
  readonly checkedAt: Date;
  /** Why the current content of the sources was rejected; `undefined` if it is the content in use. */
  readonly lastError: SluiceError | undefined;
  /** When the sources were first rejected; `undefined` if they are not. */
  readonly failingSince: Date | undefined;
}
