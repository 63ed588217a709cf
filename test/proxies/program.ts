import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { until } from '../redis/servers/until.ts';
import { bury, forget } from '../redis/servers/undertaker.ts';

/** A real program that listens on a port of the loopback. */
export class Program {
  readonly #child: ChildProcess;
  readonly #output: () => string;

  private constructor(child: ChildProcess, output: () => string) {
    this.#child = child;
    this.#output = output;
  }

  /** Starts a program, and waits until something listens on its port. */
  static async start(command: string, args: readonly string[], port: number, cwd?: string): Promise<Program> {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...(cwd !== undefined && { cwd }) });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
    bury(child.pid!);
    const program = new Program(child, () => output);
    await until(`${command} listens on ${port}`, () => {
      if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}:\n${output}`);
      return listensOn(port);
    });
    return program;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get output(): string {
    return this.#output();
  }

  /** @returns Its exit code; null if it was killed. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const { exitCode, signalCode, pid } = this.#child;
    if (exitCode === null && signalCode === null) {
      const ended = once(this.#child, 'exit');
      this.#child.kill(signal);
      await ended;
    }
    forget(pid!);
    return this.#child.exitCode;
  }
}

function listensOn(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
