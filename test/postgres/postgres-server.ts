import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { Pool } from 'pg';
import { postgresFolder, postgresUser } from '../../scripts/postgres.mjs';
import { reservedPort } from '../redis/servers/port.ts';
import { running } from '../redis/servers/running.ts';
import { bury, forget, serversFolder } from '../redis/servers/undertaker.ts';
import { until } from '../redis/servers/until.ts';

/** What costs time and matters only after a crash. */
const SETTINGS = ['fsync=off', 'full_page_writes=off', 'max_connections=60', 'shared_buffers=32MB'];

/** A PostgreSQL server with data of its own, which may be stopped and started again. */
export class PostgresServer {
  readonly port: number;
  /** The folder of its data. */
  readonly folder: string;
  readonly #settings: readonly string[];
  readonly #user = postgresUser();
  #child: ChildProcess | undefined;
  #pool: Pool | undefined;
  #log = '';
  #tables = 0;

  /** @param folder - An empty folder for its data. Default: a temporary one. */
  constructor(port: number, settings: readonly string[], folder?: string) {
    this.port = port;
    this.#settings = settings;
    const servers = serversFolder();
    this.folder = folder ?? mkdtempSync(join(servers, 'postgres-'));
    const { uid, gid } = this.#user;
    if (uid === undefined || gid === undefined) return;
    chmodSync(servers, 0o711);
    chownSync(this.folder, uid, gid);
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres`;
  }

  /** Connections for the tests themselves. */
  get pool(): Pool {
    if (this.#pool === undefined) {
      this.#pool = new Pool({ connectionString: this.url, max: 20, allowExitOnIdle: true });
      this.#pool.on('error', () => {});
    }
    return this.#pool;
  }

  /** All that it has printed. */
  get log(): string {
    return this.#log;
  }

  /** The name of a table that no store has used. */
  newTable(): string {
    return `buckets_${this.#tables++}`;
  }

  /** Returns the rows of statements. */
  async query(text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
    const { rows } = await this.pool.query(text, [...values]);
    return rows as Record<string, unknown>[];
  }

  init(): void {
    const options = ['-D', this.folder, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
    execFileSync(join(postgresFolder(), 'initdb'), options, { ...this.#user, stdio: ['ignore', 'ignore', 'pipe'] });
  }

  /** Starts it, and waits until it accepts connections. */
  async start(): Promise<void> {
    const address = ['-D', this.folder, '-p', String(this.port), '-h', '127.0.0.1', '-k', ''];
    const settings = [...SETTINGS, ...this.#settings].flatMap((setting) => ['-c', setting]);
    const child = spawn(join(postgresFolder(), 'postgres'), [...address, ...settings], {
      ...this.#user,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    const pid = child.pid!;
    bury(pid);
    child.once('exit', () => forget(pid));
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        printed += String(chunk);
        this.#log += String(chunk);
      });
    }
    await until('it accepts connections', () => {
      if (child.exitCode !== null) throw new Error(`postgres ended with ${child.exitCode}:\n${printed}`);
      return printed.includes('ready to accept connections');
    });
  }

  /** Ends it, by SIGINT without waiting for clients, by SIGQUIT as in a crash. */
  async stop(signal: 'SIGINT' | 'SIGQUIT' = 'SIGINT'): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null) return;
    const exit = once(child, 'exit');
    this.thaw();
    child.kill(signal);
    await exit;
  }

  /** Stops all its processes: sockets stay open, and nobody answers. */
  freeze(): void {
    for (const pid of this.#pids()) signalTo(pid, 'SIGSTOP');
  }

  /** They go on, and execute all that they were sent meanwhile. */
  thaw(): void {
    for (const pid of this.#pids()) signalTo(pid, 'SIGCONT');
  }

  async close(): Promise<void> {
    await this.#pool?.end();
    await this.stop();
  }

  // Its children are no group of processes.
  #pids(): readonly number[] {
    const own = this.#child!.pid!;
    const listed = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
    const children = listed.map((line) => line.trim().split(/\s+/).map(Number)).filter(([, parent]) => parent === own);
    return [own, ...children.map(([pid]) => pid!)];
  }
}

/** Starts a server of its own, which ends with the test. */
export async function ownPostgresServer(settings: readonly string[] = [], folder?: string): Promise<PostgresServer> {
  const server = new PostgresServer(await reservedPort(), settings, folder);
  server.init();
  await server.start();
  running.add({ close: () => server.close(), report: () => server.log });
  return server;
}

let shared: Promise<PostgresServer> | undefined;

/** The server that the files of this process share. Stores have tables of their own. */
export function postgresServer(): Promise<PostgresServer> {
  return (shared ??= running.leftRunning(() => ownPostgresServer()));
}

/** The process of a client may end meanwhile. */
function signalTo(pid: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
