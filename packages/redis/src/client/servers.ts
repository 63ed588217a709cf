import type { SluiceError } from '@sluice/core';
import type { LineState } from './connection-status.ts';
import type { Trip } from './script-run.ts';

/** The state of one server. */
export interface ServerState {
  /** `host:port`, or the path of the socket. */
  readonly server: string;
  /** Whether scripts can be run now. */
  readonly isOpen: boolean;
  /** Whether scripts can be run now, and the server has not rejected the last write. */
  readonly isWell: boolean;
  /** The last error of the connection or the server. */
  readonly lastError: unknown;
  /** The maximum error of the estimate of the server's clock, in milliseconds; `undefined` before the first answer. */
  readonly clockUncertaintyMs: number | undefined;
}

/** The servers of a line: a single one, or the primaries of a cluster. */
export interface Servers {
  readonly isCluster: boolean;
  /** The state of the connections. Only meaningful after the first change. */
  readonly state: Exclude<LineState, 'closed'>;
  /** The state of all servers, open or not. */
  channels(): readonly ServerState[];
  /** Sends a call to the server of its keys. Returns an error, not a promise, if that server is not connected. */
  run(trip: Trip): Promise<readonly unknown[]> | SluiceError;
  close(): Promise<void>;
}
