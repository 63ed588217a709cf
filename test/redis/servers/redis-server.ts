import { Admin } from './admin.ts';
import { reservedPort } from './port.ts';
import { RedisProcess } from './redis-process.ts';
import { running } from './running.ts';

export interface RedisServerOptions {
  /** Settings as redis.conf names them, e.g. `{ maxmemory: '5mb' }`. */
  readonly config?: Readonly<Record<string, string>>;
  /** Do not start it yet: nothing listens at its port. */
  readonly absent?: boolean;
}

/** A standalone redis-server of this test's own: it saves nothing, and nothing but this machine reaches it. */
export class RedisServer {
  readonly #process: RedisProcess;
  readonly #admin: Admin;

  constructor(process: RedisProcess) {
    this.#process = process;
    this.#admin = new Admin(process.port);
  }

  get port(): number {
    return this.#process.port;
  }

  get host(): string {
    return '127.0.0.1';
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Where it keeps what it saves. */
  get folder(): string {
    return this.#process.folder;
  }

  get isRunning(): boolean {
    return this.#process.isRunning;
  }

  /** All that it has printed. */
  get log(): string {
    return this.#process.log;
  }

  /** Starts it, at the same port as ever. `whileLoading` waits only until it listens, with `args` for this life. */
  start(options?: { whileLoading?: boolean; args?: readonly string[] }): Promise<void> {
    return this.#process.start(options);
  }

  /** Asks it to end. */
  async stop(): Promise<void> {
    this.#admin.disconnect();
    await this.#process.stop();
  }

  /** `kill -9`. */
  async kill(): Promise<void> {
    this.#admin.disconnect();
    await this.#process.kill();
  }

  /** SIGSTOP. */
  freeze(): void {
    this.#process.freeze();
  }

  /** SIGCONT. */
  thaw(): void {
    this.#process.thaw();
  }

  /** Sends one command over a connection of the test's own, e.g. `call('CLIENT', 'PAUSE', 1500)`. */
  call<T = unknown>(command: string, ...args: (string | number)[]): Promise<T> {
    return this.#admin.call<T>(command, ...args);
  }

  /** CONFIG SET. */
  async config(name: string, value: string): Promise<void> {
    await this.call('CONFIG', 'SET', name, value);
  }

  /** How often each command has run, by its lower-case name, as INFO commandstats tells. */
  async commandCalls(): Promise<Map<string, number>> {
    const info = await this.call<string>('INFO', 'commandstats');
    const lines = info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm);
    return new Map([...lines].map(([, name = '', calls]) => [name, Number(calls)]));
  }
}

/** Starts a standalone redis-server. It ends with the test that started it, or the file when none did. */
export async function redisServer({ config = {}, absent = false }: RedisServerOptions = {}): Promise<RedisServer> {
  const settings = { save: '', appendonly: 'no', ...config };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  return serverWith(args, absent);
}

/** The same with the program's own arguments. */
export async function serverWith(args: readonly string[], absent = false): Promise<RedisServer> {
  const process = new RedisProcess(await reservedPort(), args);
  const server = new RedisServer(process);
  running.add({ close: () => server.kill(), report: () => `redis-server at ${server.port}:\n${server.log}` });
  if (!absent) await server.start();
  return server;
}
