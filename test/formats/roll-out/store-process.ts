import type { StoreOperation, StoreReading } from '@sluice/core/store';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { bury, forget } from '../../redis/servers/undertaker.ts';
import { oldProgram } from '../old-packages.ts';

const PROGRAM = fileURLToPath(new URL('program.mjs', import.meta.url));

/** Which store a process opens. */
export type StoreAddress =
  | { readonly kind: 'redis'; readonly url: string; readonly prefix: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly table: string }
  | { readonly kind: 'host'; readonly socket: string };

interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** A process with one store: of this version, or of the one before. */
export class StoreProcess {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: unknown) => void }>();
  #calls = 0;

  constructor(version: 'old' | 'new') {
    const program = version === 'new' ? PROGRAM : oldProgram(PROGRAM, 'program.mjs');
    this.#child = fork(program, { env: { ...process.env, NODE_OPTIONS: '' }, execArgv: [] });
    const pid = this.#child.pid!;
    bury(pid);
    this.#child.once('exit', () => {
      forget(pid);
      for (const { reject } of this.#waiting.values())
        reject(new Error(`The process of the ${version} version has ended.`));
    });
    this.#child.on('message', ({ id, result, error }: Reply) => {
      const { resolve, reject } = this.#waiting.get(id)!;
      this.#waiting.delete(id);
      if (error === undefined) resolve(result);
      else reject(new Error(`The ${version} version: ${error}`));
    });
  }

  async open(address: StoreAddress): Promise<this> {
    await this.#call('open', address);
    return this;
  }

  /** Executes operations at the same time. */
  run(operations: readonly StoreOperation[]): Promise<readonly StoreReading[]> {
    return this.#call('run', operations) as Promise<readonly StoreReading[]>;
  }

  async role(): Promise<string> {
    return ((await this.#call('status')) as { readonly role: string }).role;
  }

  /** Closes the store, and ends the process. */
  async end(): Promise<void> {
    await this.#call('close');
    const exit = once(this.#child, 'exit');
    this.#child.disconnect();
    await exit;
  }

  #call(command: string, ...args: readonly unknown[]): Promise<unknown> {
    const id = this.#calls++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.send({ id, command, args });
    });
  }
}
