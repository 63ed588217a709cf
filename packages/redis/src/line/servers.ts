import type { SluiceError } from '@sluice/core';
import type { Channel } from './channel.ts';
import type { LineState } from './line-status.ts';
import type { Trip } from './trip.ts';

/** The servers of a line: a single one, or the primaries of a cluster. */
export interface Servers {
  readonly isCluster: boolean;
  /** The state of the connections. Only meaningful after the first change. */
  readonly state: Exclude<LineState, 'closed'>;
  /** The channels to all servers, open or not. */
  channels(): readonly Channel[];
  /** Sends a call to the server of its keys. Returns an error, not a promise, if that server is not connected. */
  run(trip: Trip): Promise<readonly unknown[]> | SluiceError;
  close(): Promise<void>;
}
