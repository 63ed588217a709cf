import type { LineCounts } from './connection-status.ts';

/** {@link LineCounts} that can be changed. */
export type Counts = { -readonly [Name in keyof LineCounts]: number };

export function noCounts(): Counts {
  return { calls: 0, unreachable: 0, missed: 0, expired: 0, reloads: 0, redirects: 0, resets: 0, connects: 0 };
}
