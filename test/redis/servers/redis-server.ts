import { Admin } from './admin.ts';
import { IdleServers } from './idle-servers.ts';
import { reservedPort } from './port.ts';
import { RedisProcess } from './redis-process.ts';
import { running } from './running.ts';

export interface RedisServerOptions {
  /** Settings as redis.conf names them, e.g. `{ maxmemory: '5mb' }`. */
  readonly config?: Readonly<Record<string, string>>;
  /** Do not start it yet: nothing listens at its port. */
  readonly absent?: boolean;
}

/** Commands of tests whose effect {@link RedisServer.empty} does not undo. */
const LASTING = /^(ACL|BGSAVE|CLIENT PAUSE|CLUSTER|CONFIG SET|DEBUG|REPLICAOF|SAVE)\b/;

/** A standalone redis-server of this test's own: it saves nothing, and nothing but this machine reaches it. */
export class RedisServer {
  readonly #process: RedisProcess;
  readonly #admin: Admin;
  #isAltered = false;

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

  /** Whether it is as it was made, but for what {@link empty} deletes. */
  get isUnaltered(): boolean {
    return this.#process.isAsMade && !this.#isAltered;
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
    this.#isAltered ||= LASTING.test([command, ...args].join(' ').toUpperCase());
    return this.#admin.call<T>(command, ...args);
  }

  /** Deletes its data, scripts and counts. */
  async empty(): Promise<void> {
    await this.call('FLUSHALL');
    await this.call('SCRIPT', 'FLUSH');
    await this.call('CONFIG', 'RESETSTAT');
  }

  /** How many clients are connected, with this one. */
  async clients(): Promise<number> {
    return (await this.call<string>('CLIENT', 'LIST')).trim().split('\n').length;
  }

  /** Lets this process end although it runs: then it is killed. */
  unref(): void {
    this.#admin.disconnect();
    this.#process.unref();
  }

  /** Returns another object for the same server, without what an earlier test has learned of it. */
  anew(): RedisServer {
    this.#admin.disconnect();
    return new RedisServer(this.#process);
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

const idle = new IdleServers();

/**
 * Starts a standalone redis-server, or takes one that an earlier test has left as it was made. It ends with the test that
 * started it, or the file when none did.
 */
export async function redisServer({ config = {}, absent = false }: RedisServerOptions = {}): Promise<RedisServer> {
  const args = argsOf(config);
  const server = (absent ? undefined : await idle.take(args)) ?? (await newServer(args));
  endsWithTest(server, () => idle.leave(args, server));
  if (!absent && !server.isRunning) await server.start();
  return server;
}

/** Starts one that no other test has used or will use, with arguments of the program. */
export async function serverWith(args: readonly string[]): Promise<RedisServer> {
  const server = await newServer(args);
  endsWithTest(server, () => server.kill());
  await server.start();
  return server;
}

/** The arguments of a server with these settings, which saves nothing. */
export function argsOf(config: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries({ save: '', appendonly: 'no', ...config }).flatMap(([name, value]) => [`--${name}`, value]);
}

async function newServer(args: readonly string[]): Promise<RedisServer> {
  return new RedisServer(new RedisProcess(await reservedPort(), args));
}

function endsWithTest(server: RedisServer, close: () => Promise<void>): void {
  running.add({ close, report: () => `redis-server at ${server.port}:\n${server.log}` });
}
