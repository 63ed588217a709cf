/**
 * - `connecting`: the first attempt has not ended yet.
 * - `up`: scripts can be run on every server.
 * - `degraded`: in a cluster, some primaries can't be asked.
 * - `down`: no server can be asked.
 * - `closed`: the line was closed.
 */
export type LineState = 'connecting' | 'up' | 'degraded' | 'down' | 'closed';

/** A change of a line's state. */
export interface LineChange {
  readonly state: LineState;
  /** `host:port`, or the path of its socket, of the server that it came from. */
  readonly server: string | undefined;
  /** What a server failed with last, when the state is `degraded` or `down`. */
  readonly cause: unknown;
}

/** One server, as the line knows it. */
export interface ServerStatus {
  /** `host:port`, or the path of its socket. */
  readonly server: string;
  /** Whether scripts can be run on it now. */
  readonly ready: boolean;
  /** How far our estimate of the server's clock may be off, in milliseconds: at most the quickest round trip so far. */
  readonly clockUncertaintyMs: number | undefined;
}

/** How the way to the servers is. */
export interface LineStatus {
  readonly state: LineState;
  /** When that began, by the wall clock. */
  readonly since: Date;
  /** The one server, or the primaries of a cluster. */
  readonly servers: readonly ServerStatus[];
  /** What a connection or a server failed with last, if anything ever did. */
  readonly lastError: { readonly cause: unknown; readonly at: Date } | undefined;
  /** Since the line was opened. */
  readonly counts: LineCounts;
}

/** What an operator may want to know of a line's life: how often since it was opened. */
export interface LineCounts {
  /** Calls of scripts. */
  readonly calls: number;
  /** Calls for which no server could be asked. */
  readonly unreachable: number;
  /** Calls without an answer within their deadline. */
  readonly missed: number;
  /** Scripts that a server did not run because their time was over when it got to them. */
  readonly expired: number;
  /** Scripts that a server had forgotten and was told again. */
  readonly reloads: number;
  /** Calls that a node of a cluster sent on to another. */
  readonly redirects: number;
  /** Connections that were cut because nothing came through them any more. */
  readonly resets: number;
  /** Connections on which scripts could be run. */
  readonly connects: number;
}
