import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { redisServerProgram } from '../../../scripts/redis.mjs';
import { bury, forget, serversFolder } from './undertaker.ts';

// "Ready to accept connections" of a server, "Sentinel ID is …" of a sentinel.
const READY = /Ready to accept connections|Sentinel ID is/;
const LISTENING = /Ready to accept connections|Sentinel ID is|Loading RDB/;

let program: string | undefined;

/** One redis-server at one port, which may be stopped and started again. */
export class RedisProcess {
  readonly port: number;
  /** Its working folder, kept as long as the tests run: what it saved is there when it starts again. */
  readonly folder: string = mkdtempSync(join(serversFolder(), 'server-'));
  readonly #args: readonly string[];
  #child: ChildProcess | undefined;
  #log = '';
  #isFrozen = false;
  #hasOtherArgs = false;

  /** @param args - Without the port, the folder and the address. */
  constructor(port: number, args: readonly string[]) {
    this.port = port;
    this.#args = args;
  }

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  /** Whether it runs as it was made: not frozen, and with its own arguments alone. */
  get isAsMade(): boolean {
    return this.isRunning && !this.#isFrozen && !this.#hasOtherArgs;
  }

  /** All that it has printed, over all its lives. */
  get log(): string {
    return this.#log;
  }

  /**
   * Starts it, and waits until it takes commands.
   *
   * @param whileLoading - Wait only until it listens: until its data is loaded it answers with LOADING.
   */
  async start({ whileLoading = false, args = [] as readonly string[] } = {}): Promise<void> {
    const address = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.folder];
    const child = spawn((program ??= redisServerProgram()), [...this.#args, ...address, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#isFrozen = false;
    this.#hasOtherArgs = args.length > 0;
    const { pid } = child;
    if (pid !== undefined) bury(pid);
    child.once('exit', () => {
      if (pid !== undefined) forget(pid);
      if (this.#child === child) this.#child = undefined;
    });
    await this.#printed(child, whileLoading ? LISTENING : READY);
  }

  /** Asks it to end, as `systemctl stop` would. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  /** `kill -9`. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** SIGSTOP: its sockets stay open, the kernel takes in what is sent, and nobody answers. */
  freeze(): void {
    this.#isFrozen = true;
    this.#child?.kill('SIGSTOP');
  }

  /** SIGCONT: it goes on, and does all that it was sent meanwhile. */
  thaw(): void {
    this.#isFrozen = false;
    this.#child?.kill('SIGCONT');
  }

  /** Lets this process end although it runs: then it is killed. */
  unref(): void {
    this.#child?.unref();
    for (const stream of [this.#child?.stdout, this.#child?.stderr]) (stream as Socket | null | undefined)?.unref();
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const exit = once(child, 'exit');
    child.kill(signal);
    if (signal !== 'SIGKILL') child.kill('SIGCONT');
    await exit;
  }

  #printed(child: ChildProcess, pattern: RegExp): Promise<void> {
    let output = '';
    return new Promise((resolve, reject) => {
      const take = (chunk: Buffer): void => {
        output += String(chunk);
        this.#log += String(chunk);
        if (pattern.test(output)) resolve();
      };
      for (const stream of [child.stdout, child.stderr]) stream?.on('data', take);
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}:\n${output}`)));
    });
  }
}
