/**
 * - `connecting`: no server could be asked yet.
 * - `up`: scripts can be run. In a cluster: on at least one primary.
 * - `down`: the servers could be asked before, and can't be now.
 * - `closed`: the line was closed.
 */
export type LineState = 'connecting' | 'up' | 'down' | 'closed';

/** A change of a line's state. */
export interface LineChange {
  readonly state: LineState;
  /** `host:port` or socket path of the server whose change it was. */
  readonly server: string | undefined;
  /** What the servers failed with last, if they ever did. */
  readonly cause: unknown;
}

/** One server, as the line knows it. */
export interface ServerStatus {
  /** `host:port` or socket path. */
  readonly server: string;
  /** Whether scripts can be run on it now. */
  readonly ready: boolean;
  /** How far the server's clock may be off our estimate of it, in milliseconds: at most one round trip. */
  readonly clockUncertaintyMs: number | undefined;
}

/** How the way to the servers is. */
export interface LineStatus {
  readonly state: LineState;
  /** When that began, by the wall clock. */
  readonly since: Date;
  /** The servers: one, or the primaries of a cluster that have been asked. */
  readonly servers: readonly ServerStatus[];
  /** The last error of a connection or a server, if there ever was one. */
  readonly lastError: { readonly cause: unknown; readonly at: Date } | undefined;
  /** Since the line was opened. */
  readonly counts: LineCounts;
}

/** What an operator may want to know of a line's life. */
export interface LineCounts {
  /** Calls of scripts. */
  readonly calls: number;
  /** Calls that no server could be asked at. */
  readonly refused: number;
  /** Calls without an answer within their deadline. */
  readonly missed: number;
  /** Scripts that a server refused to run because their time was over when it got to them. */
  readonly expired: number;
  /** Scripts that a server had forgotten, and was told again. */
  readonly reloads: number;
  /** Connections that were cut because nothing came through them any more. */
  readonly resets: number;
  /** How often the state went to `up`. */
  readonly connects: number;
}
