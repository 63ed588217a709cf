import type { StorePressure, StoreReport } from '@sluice/core/store';

/** A report about the servers, see `ScriptClient.watch`. */
export type ConnectionReport = Exclude<StoreReport, StorePressure>;

/**
 * The state of the connection to Redis.
 *
 * - `connecting`: the first attempt to connect has not ended yet.
 * - `up`: scripts can be run on the server, or on every primary of a cluster.
 * - `degraded`: in a cluster, scripts can be run on some primaries only.
 * - `down`: scripts can't be run on any server.
 * - `closed`: the store was closed.
 */
export type ConnectionState = 'connecting' | 'up' | 'degraded' | 'down' | 'closed';

export interface ConnectionChange {
  readonly state: ConnectionState;
  /**
   * The server that caused the change, as `host:port` or socket path, or words such as `the nodes of the cluster` if it
   * is not one known server. `undefined` when the client was closed.
   */
  readonly server: string | undefined;
  /** The last error of a server; `undefined` if the state is `up` or `closed`. */
  readonly cause: unknown;
}

/** The state of one server. */
export interface ServerStatus {
  /** `host:port`, or the path of the socket. */
  readonly server: string;
  /** Whether scripts can be run on it now. */
  readonly ready: boolean;
  /**
   * The width of the interval in which the difference between the server's clock and this process's clock lies, in
   * milliseconds. It is at most the quickest round trip since the connection was opened or a clock was set; `undefined`
   * before that.
   */
  readonly clockUncertaintyMs: number | undefined;
}

/** The state of the connections to the servers. */
export interface ConnectionStatus {
  readonly state: ConnectionState;
  /** When the state began, by the wall clock of this process. */
  readonly since: Date;
  /** The single server, or the primaries of the cluster. */
  readonly servers: readonly ServerStatus[];
  /** The last error of a connection or a server; it stays after a recovery. `undefined` if there was none. */
  readonly lastError: { readonly cause: unknown; readonly at: Date } | undefined;
  /** What was counted since the store was created. */
  readonly counts: ConnectionCounts;
}

/** The counters of the connections to Redis, since the store was created. */
export interface ConnectionCounts {
  /** Script calls. One call may contain several batches. */
  readonly calls: number;
  /** Script calls that failed at once because the server of their keys was not connected. */
  readonly unreachable: number;
  /** Script calls without an answer within their deadline. */
  readonly missed: number;
  /** Scripts that a server did not execute because their deadline had passed when it received them. */
  readonly expired: number;
  /** Scripts that were sent again with their source, because the server did not have them. */
  readonly reloads: number;
  /** Redirections of calls by a node of a cluster to another node. */
  readonly redirects: number;
  /** Connections that were closed because the server had stopped sending anything. */
  readonly resets: number;
  /** Connections on which the server was ready for scripts. */
  readonly connects: number;
}
