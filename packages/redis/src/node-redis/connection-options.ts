/** The options of a client of node-redis that the store reads. All others are kept as they are. */
export interface NodeRedisOptions {
  readonly url?: string | undefined;
  readonly socket?: SocketOptions | undefined;
  readonly database?: number | undefined;
}

interface SocketOptions {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly path?: string | undefined;
}

/**
 * The options of one connection. It keeps the client's options for address, TLS, credentials, database, protocol and
 * name, and replaces those for the sending of commands.
 *
 * @param signal - Ends the attempt to connect, or the connection, in any state.
 */
export function connectionOptions({ socket }: NodeRedisOptions, signal: AbortSignal): Record<string, unknown> {
  return {
    ...OUR_OPTIONS,
    // `node:net` destroys the socket. `destroy` of node-redis does not reach a socket that is still connecting.
    socket: { ...socket, ...OUR_SOCKET_OPTIONS, signal },
  };
}

const OUR_OPTIONS = {
  // node-redis has read the URL into the other options, and would read it again into the socket options of the user.
  url: undefined,
  // A command that is queued in the process or sent again could be executed after its deadline.
  disableOfflineQueue: true,
  commandsQueueMaxLength: undefined,
  // DeadlinedClient enforces the deadlines. node-redis 6 would make an AbortSignal for each command. A type mapping would
  // change the replies of the script.
  commandOptions: { timeout: undefined },
  pingInterval: undefined,
  readonly: false,
  // The store alone determines the keys, so that processes with different clients agree on them.
  keyPrefix: undefined,
  clientSideCache: undefined,
  emitInvalidate: false,
  // node-redis would move to another server, or wait longer, by itself.
  maintNotifications: 'disabled',
} as const;

const OUR_SOCKET_OPTIONS = {
  // ConnectWatch is quicker in three of four attempts.
  connectTimeout: 1000,
  socketTimeout: undefined,
  // NodeRedisConnection destroys the client at its first error and makes a new one.
  reconnectStrategy: 0,
} as const;
