// The room node-redis: connections of node-redis; the only room that knows this library.
import type { Time } from '@sluice/core';
import type { Cancel } from '@sluice/core/store';
import type { Connection, ConnectionListener, ConnectionSocket } from '../servers/connection.ts';
import { pauseMs } from '../servers/pause.ts';
import { PacedSender } from './paced-sender.ts';
import { readError } from './read-error.ts';

/** The documented part of a client of node-redis 6 that a connection uses. */
export interface CommandClient {
  readonly isReady: boolean;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  on(event: 'connect' | 'reconnecting', listener: () => void): unknown;
  connect(): Promise<unknown>;
  destroy(): void;
  sendCommand(args: readonly string[]): Promise<unknown>;
}

/** What a connection is made with. */
export interface NodeRedisConnectionParts {
  /** Where the server is; asked before each attempt. */
  readonly address: string;
  readonly host: string | undefined;
  /** Creates a client for one attempt. It does not reconnect, and queues nothing. The signal ends it in any state. */
  readonly createClient: (signal: AbortSignal) => CommandClient;
  readonly time: Time;
}

/**
 * A connection of node-redis 6. Each attempt to connect has a client of its own, which is destroyed at its first
 * error: node-redis then has nothing to queue, to send again or to connect again, whatever its version does.
 */
export class NodeRedisConnection implements Connection {
  readonly isCluster = false;
  readonly #parts: NodeRedisConnectionParts;
  readonly #listeners = new Set<ConnectionListener>();
  #attempt: Attempt | undefined;
  /** The attempts since the connection was last ready. */
  #attempts = 0;
  #cancelPause: Cancel | undefined;
  #isClosed = false;

  constructor(parts: NodeRedisConnectionParts) {
    this.#parts = parts;
    this.#connect();
  }

  get address(): string {
    return this.#parts.address;
  }

  get host(): string | undefined {
    return this.#parts.host;
  }

  get status(): string {
    return this.#attempt?.status ?? 'wait';
  }

  get socket(): ConnectionSocket | undefined {
    return this.#attempt;
  }

  listen(listener: ConnectionListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  evaluate(command: 'eval' | 'evalsha', args: readonly (string | number)[]): Promise<unknown> {
    // node-redis takes no numbers. Every decision takes this path.
    const words: string[] = [command];
    for (const arg of args) words.push(typeof arg === 'string' ? arg : String(arg));
    return this.#attempt!.send(words);
  }

  asking(): Promise<unknown> {
    return this.command(['ASKING']);
  }

  /** Sends a command in words. */
  command(words: readonly string[]): Promise<unknown> {
    return this.#attempt!.send(words);
  }

  // node-redis selects it before a connection is ready, and fails if the server rejects that.
  selectDatabase(): Promise<void> {
    return Promise.resolve();
  }

  readError(error: unknown): unknown {
    return readError(error);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelPause?.();
    this.#listeners.clear();
    this.#attempt?.destroy();
    await this.#attempt?.ended;
  }

  #connect(): void {
    this.#attempts++;
    this.#attempt = new Attempt(this.#parts.createClient, {
      onReady: () => {
        this.#attempts = 0;
        for (const { ready } of this.#listeners) ready();
      },
      onError: (error) => {
        for (const { failed } of this.#listeners) failed(error);
      },
      onClose: () => this.#handleClose(),
    });
    for (const { connecting } of this.#listeners) connecting();
  }

  #handleClose(): void {
    if (this.#isClosed) return;
    const alarm = this.#parts.time.alarm(pauseMs(Math.max(1, this.#attempts)), () => this.#connect());
    this.#cancelPause = alarm.cancel;
    for (const { closed } of this.#listeners) closed();
  }
}

interface AttemptListener {
  readonly onReady: () => void;
  readonly onError: (error: unknown) => void;
  /** Called once, after the attempt has failed or its connection was lost. */
  readonly onClose: () => void;
}

/** One client of node-redis, from its first attempt to connect to its first error. */
class Attempt implements ConnectionSocket {
  readonly #client: CommandClient;
  readonly #controller = new AbortController();
  readonly #listener: AttemptListener;
  readonly #sender = new PacedSender((words) => this.#client.sendCommand(words));
  readonly #countReply = (): void => void this.bytesRead++;
  /** Resolves when node-redis has stopped working on it. */
  readonly ended: Promise<void>;
  status: 'connecting' | 'connect' | 'ready' | 'close' = 'connecting';
  /** The replies. node-redis does not show its socket. */
  bytesRead = 0;

  constructor(createClient: (signal: AbortSignal) => CommandClient, listener: AttemptListener) {
    this.#listener = listener;
    this.#client = createClient(this.#controller.signal);
    this.#client.on('error', (error) => this.#fail(error));
    this.#client.on('reconnecting', () => this.destroy());
    this.#client.on('connect', () => {
      if (!this.destroyed) this.status = 'connect';
    });
    this.ended = this.#connect();
  }

  get destroyed(): boolean {
    return this.status === 'close';
  }

  destroy(): void {
    if (this.destroyed) return;
    this.status = 'close';
    try {
      this.#client.destroy();
    } catch {
      // It is closed already.
    }
    this.#controller.abort();
    this.#listener.onClose();
  }

  send(args: readonly string[]): Promise<unknown> {
    const reply = this.#sender.send(args);
    reply.then(this.#countReply, this.#countReply);
    return reply;
  }

  async #connect(): Promise<void> {
    try {
      await this.#client.connect();
      // It may have been destroyed meanwhile.
      if (this.destroyed) return;
      this.status = 'ready';
      this.#listener.onReady();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.destroyed) return;
    this.#listener.onError(error);
    this.destroy();
  }
}
