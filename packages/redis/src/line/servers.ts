import type { SluiceError } from '@sluice/core';
import type { Channel } from './channel.ts';
import type { LineState } from './line-status.ts';
import type { Trip } from './trip.ts';

/** The servers that a line leads to: one, or those of a cluster. */
export interface Servers {
  readonly isCluster: boolean;
  /** Once something has come of connecting to them. */
  readonly state: Exclude<LineState, 'closed'>;
  /** The way to each, open or not. */
  channels(): readonly Channel[];
  /** Sends a call to the server of its keys; gives an error at once when that can't be asked. */
  run(trip: Trip): Promise<readonly unknown[]> | SluiceError;
  close(): Promise<void>;
}
