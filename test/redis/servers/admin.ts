import { Redis } from 'ioredis';

/** A connection for the tests themselves, beside those that are tested. It fails rather than waits. */
export class Admin {
  readonly #port: number;
  #client: Redis | undefined;
  #connecting: Promise<void> | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  /** Sends one command, connecting first where need be. */
  async call<T = unknown>(command: string, ...args: (string | number)[]): Promise<T> {
    const client = this.#ours();
    await this.#connecting;
    return (await client.call(command, ...args)) as T;
  }

  disconnect(): void {
    this.#client?.disconnect();
    this.#client = undefined;
  }

  #ours(): Redis {
    if (this.#client !== undefined) return this.#client;
    const client = new Redis({
      port: this.#port,
      lazyConnect: true,
      enableReadyCheck: false,
      retryStrategy: () => null,
      maxRetriesPerRequest: 0,
    });
    client.on('error', () => {});
    // Also when the server goes: the next call connects anew.
    client.once('end', () => {
      if (this.#client === client) this.#client = undefined;
    });
    this.#client = client;
    this.#connecting = client.connect();
    return client;
  }
}
