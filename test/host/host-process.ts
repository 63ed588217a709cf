import type { StoreOperation, StoreReading } from '@sluice/core/store';
import type { HostStoreEvent, HostStoreStatus } from '@sluice/host';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { bury, forget } from '../redis/servers/undertaker.ts';

const PROGRAM = fileURLToPath(new URL('program.mjs', import.meta.url));

/** How many requests of one limit a process makes, and of how many it waits for the answer at a time. */
export interface Load {
  readonly socket: string;
  readonly burst: number;
  readonly requests: number;
  readonly inFlight: number;
  readonly deadlineMs: number;
}

/** Outcomes of the requests of a process. */
export interface LoadResult {
  readonly allowed: number;
  readonly denied: number;
  readonly unavailable: number;
  readonly slowestMs: number;
}

type Reply = { readonly id: number } & ({ readonly result: unknown } | { readonly error: RemoteError });
interface RemoteError {
  readonly code: string;
  readonly message: string;
}

/** A process with host stores. It runs the build of the packages. */
export class HostProcess {
  readonly events: HostStoreEvent[] = [];
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: unknown) => void }>();
  #calls = 0;

  constructor() {
    this.#child = fork(PROGRAM, { env: { ...process.env, NODE_OPTIONS: '' }, execArgv: [] });
    const pid = this.pid;
    bury(pid);
    this.#child.once('exit', () => {
      forget(pid);
      for (const { reject } of this.#waiting.values()) reject(new Error('The process has ended.'));
    });
    this.#child.on('message', (message: { readonly event: HostStoreEvent } | Reply) => this.#handle(message));
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Opens a store, and resolves when it serves or asks. */
  open(socket: string, { steered = false } = {}): Promise<HostStoreStatus> {
    return this.#call('open', { socket, steered }) as Promise<HostStoreStatus>;
  }

  status(socket: string): Promise<HostStoreStatus> {
    return this.#call('status', socket) as Promise<HostStoreStatus>;
  }

  close(socket: string): Promise<unknown> {
    return this.#call('close', socket);
  }

  run(socket: string, operation: StoreOperation, deadlineMs: number): Promise<StoreReading> {
    return this.#call('run', socket, operation, deadlineMs) as Promise<StoreReading>;
  }

  /** Moves the time of the stores that were opened as `steered`. */
  advance(ms: number): Promise<unknown> {
    return this.#call('advance', ms);
  }

  stepBack(ms: number): Promise<unknown> {
    return this.#call('stepBack', ms);
  }

  spend(load: Load): Promise<LoadResult> {
    return this.#call('spend', load) as Promise<LoadResult>;
  }

  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  /** Kills the process, and resolves when it has ended. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** Lets the process close its stores and end. Its loads stop, and resolve before. */
  terminate(): Promise<void> {
    return this.#end('SIGTERM');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== null || signalCode !== null) return;
    this.#child.kill(signal);
    await once(this.#child, 'exit');
  }

  #call(command: string, ...args: readonly unknown[]): Promise<unknown> {
    const id = this.#calls++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.send({ id, command, args });
    });
  }

  #handle(message: { readonly event: HostStoreEvent } | Reply): void {
    if ('event' in message) return void this.events.push(message.event);
    const waiting = this.#waiting.get(message.id)!;
    this.#waiting.delete(message.id);
    if ('result' in message) waiting.resolve(message.result);
    else if ('error' in message) waiting.reject(Object.assign(new Error(message.error.message), message.error));
    else waiting.resolve(undefined);
  }
}
