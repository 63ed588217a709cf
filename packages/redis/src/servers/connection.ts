import type { Duplex } from 'node:stream';

/**
 * A connection to one server, or to the primary that Sentinels name: the seam to the connections of a Redis client. It
 * connects by itself, and again after each loss, until it is closed. It never queues or repeats a command, because a
 * script could then be executed after its deadline.
 */
export interface Connection {
  readonly isCluster: false;
  /** `host:port` of the server, or the path of its socket. */
  readonly address: string;
  /** The host of the server; `undefined` for a socket path. */
  readonly host: string | undefined;
  /**
   * `ready` when commands can be sent; `wait` before the first attempt to connect; `connecting` until the socket is
   * connected; `connect` until the server has answered; other words between two attempts and after the last.
   */
  readonly status: string;
  /** The socket of the current or the last attempt to connect; `undefined` before the first. */
  readonly socket: ConnectionSocket | undefined;
  /** @returns A function that removes the listener. */
  listen(listener: ConnectionListener): () => void;
  /** Sends EVAL or EVALSHA with these arguments. Rejects with an error that {@link readError} reads. */
  evaluate(command: 'eval' | 'evalsha', args: readonly (string | number)[]): Promise<unknown>;
  /** Sends ASKING. */
  asking(): Promise<unknown>;
  /** Resolves when commands apply to the right database. Rejects if the server rejects the database. */
  selectDatabase(): Promise<void>;
  /**
   * Returns an error of this connection in a form that is the same for all clients: the reply of a server has the name
   * `ReplyError`, and contains no arguments of the command, because they may be credentials or ids of users.
   */
  readError(error: unknown): unknown;
  /** Closes the connection in any state, and waits until its socket is closed. */
  close(): Promise<void>;
}

/** What is known of the socket of an attempt to connect. */
export interface ConnectionSocket extends Pick<Duplex, 'destroyed'> {
  /** Grows with everything that the server sends. */
  readonly bytesRead: number;
  /** Ends the attempt, so that a new one is made. */
  destroy(): unknown;
}

export interface ConnectionListener {
  /** An attempt to connect begins. */
  readonly connecting: () => void;
  /** Commands can be sent. */
  readonly ready: () => void;
  /** The connection was lost, or an attempt has failed. */
  readonly closed: () => void;
  /** Something has failed. If that ends the connection, it is called before {@link closed}. */
  readonly failed: (error: unknown) => void;
}
