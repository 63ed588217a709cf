import { Redis } from 'ioredis';

/** A connection for the tests themselves, beside those that are tested. It fails rather than waits. */
export class Admin {
  readonly #port: number;
  #client: Redis | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  /** Sends one command, connecting first where need be. */
  async call<T = unknown>(command: string, ...args: (string | number)[]): Promise<T> {
    return (await (await this.#connected()).call(command, ...args)) as T;
  }

  disconnect(): void {
    this.#client?.disconnect();
    this.#client = undefined;
  }

  async #connected(): Promise<Redis> {
    if (this.#client?.status === 'ready') return this.#client;
    this.disconnect();
    const client = new Redis({
      port: this.#port,
      lazyConnect: true,
      enableReadyCheck: false,
      retryStrategy: () => null,
      maxRetriesPerRequest: 0,
    });
    client.on('error', () => {});
    this.#client = client;
    await client.connect();
    return client;
  }
}
