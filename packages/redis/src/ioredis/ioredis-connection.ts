// The room ioredis: connections of ioredis and iovalkey; the only room that knows these libraries.
import type { Redis } from 'ioredis';
import { isReply } from '../client/server-errors.ts';
import type { Connection, ConnectionListener, ConnectionSocket } from '../servers/connection.ts';
import { CONNECTING_EVENT, deleteCommand, socketOf } from './private-names.ts';

/** A connection of ioredis 5 or 6, or of iovalkey. */
export class IoredisConnection implements Connection {
  readonly isCluster = false;
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  get address(): string {
    const { options } = this.#redis;
    if (typeof options.path === 'string' && options.path !== '') return options.path;
    // With Sentinels, the options contain no address. The socket has that of the server that they named last.
    if (Array.isArray(options.sentinels)) return this.#remoteAddress() ?? 'the primary that the Sentinels name';
    return `${options.host}:${options.port}`;
  }

  get host(): string | undefined {
    return this.#redis.options.host;
  }

  get status(): string {
    return this.#redis.status;
  }

  get socket(): ConnectionSocket | undefined {
    return socketOf(this.#redis);
  }

  listen({ connecting, ready, closed, failed }: ConnectionListener): () => void {
    const listeners = { [CONNECTING_EVENT]: connecting, ready, close: closed, error: failed };
    for (const [event, listener] of Object.entries(listeners)) this.#redis.on(event, listener);
    return () => {
      for (const [event, listener] of Object.entries(listeners)) this.#redis.off(event, listener);
      // An `error` event without a listener would end the process, and closing may still emit one.
      this.#redis.on('error', () => {});
    };
  }

  evaluate(command: 'eval' | 'evalsha', args: readonly (string | number)[]): Promise<unknown> {
    return (this.#redis as unknown as Evaluating)[command](args);
  }

  asking(): Promise<unknown> {
    return this.#redis.asking();
  }

  // ioredis also selects the database, but if the server rejects that, it only emits an error and stays in database 0.
  async selectDatabase(): Promise<void> {
    const db = this.#redis.options.db ?? 0;
    if (db !== 0) await this.#redis.select(db);
  }

  readError(error: unknown): unknown {
    return readError(error);
  }

  close(): Promise<void> {
    return closeRedis(this.#redis);
  }

  #remoteAddress(): string | undefined {
    const socket = socketOf(this.#redis);
    return socket?.remoteAddress === undefined ? undefined : `${socket.remoteAddress}:${socket.remotePort}`;
  }
}

/** The commands, which take their arguments as one array, too. */
type Evaluating = Record<'eval' | 'evalsha', (args: readonly (string | number)[]) => Promise<unknown>>;

/** Reads an error of a connection or a cluster, see {@link Connection.readError}. It changes the reply of a server. */
export function readError(error: unknown): unknown {
  if (isReply(error)) deleteCommand(error);
  // Its message is about an option that only this package sets.
  const isFlushed = error instanceof Error && error.name === 'MaxRetriesPerRequestError';
  return isFlushed ? new Error('it was lost before the answer came', { cause: error }) : error;
}

/** Closes a connection in any state, and waits until its socket is closed. */
export async function closeRedis(redis: Redis): Promise<void> {
  redis.disconnect();
  const socket = socketOf(redis);
  if (socket === undefined || socket.closed) return;
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.destroy();
  await closed;
}
