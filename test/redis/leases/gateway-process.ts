import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../processes/run.ts';
import type { SpendLimit, SpendMessage, SpendNumbers, SpendOrders, SpendReport } from '../processes/spend.mjs';
import { running } from '../servers/running.ts';
import { serversFolder } from '../servers/undertaker.ts';
import type { Passed } from './most-beyond.ts';

/** Numbers in the file for each request that passed. */
const CELL = 3;

let started = 0;

/** A process with a limiter of its own, under a load. */
export class GatewayProcess {
  readonly #child: ChildProcess;
  readonly #orders: SpendOrders;
  /** How it leases its limit. */
  readonly numbers: SpendNumbers;

  private constructor(child: ChildProcess, orders: SpendOrders, numbers: SpendNumbers) {
    this.#child = child;
    this.#orders = orders;
    this.numbers = numbers;
  }

  /** Starts it, and waits until its store answers. */
  static async start(given: Omit<SpendOrders, 'file'>): Promise<GatewayProcess> {
    started += 1;
    const orders = { ...given, file: join(serversFolder(), `passed-${process.pid}-${started}`) };
    const child = run('spend.mjs', [JSON.stringify(orders)]);
    running.add({ close: () => kill(child) });
    return new GatewayProcess(child, orders, await answerOf<SpendNumbers>(child));
  }

  /** Begins the load. */
  async load(): Promise<void> {
    await this.#ask({ load: true });
  }

  /** How old its oldest view is, in milliseconds. */
  async ageMs(): Promise<number> {
    return (await this.#ask<{ ageMs: number }>({ age: true })).ageMs;
  }

  /** Resets the bucket of an id. */
  async reset(id: string): Promise<void> {
    await this.#ask({ reset: id });
  }

  /** Replaces its limit, and returns how it leases that. */
  replace(limit: SpendLimit): Promise<SpendNumbers> {
    return this.#ask<SpendNumbers>({ limit });
  }

  /** Ends the load, and returns what came of it. */
  end(): Promise<SpendReport> {
    return this.#ask<SpendReport>({ end: true });
  }

  /** The requests that have passed. */
  get passed(): Passed[] {
    const bytes = readFileSync(this.#orders.file);
    const cells = new Float64Array(Uint8Array.from(bytes).buffer);
    return Array.from({ length: cells.length / CELL }, (_, i) => {
      const [fromMs, toMs, index] = cells.subarray(CELL * i) as unknown as [number, number, number];
      return { fromMs, toMs, id: this.#orders.ids[index]! };
    });
  }

  /** SIGSTOP. */
  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  /** SIGCONT. */
  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  /** `kill -9`. */
  kill(): Promise<void> {
    return kill(this.#child);
  }

  get isAlive(): boolean {
    return isAlive(this.#child);
  }

  async #ask<Answer>(message: SpendMessage): Promise<Answer> {
    const answer = answerOf<Answer>(this.#child);
    this.#child.send(message);
    return answer;
  }
}

/** The next message of a process. If it ends instead, that is an error. */
function answerOf<Answer>(child: ChildProcess): Promise<Answer> {
  const printed: Buffer[] = [];
  const print = (chunk: Buffer): void => void printed.push(chunk);
  return new Promise((resolve, reject) => {
    const end = (code: number | null): void => {
      reject(new Error(`The process ended with ${code}: ${Buffer.concat(printed).toString()}`));
    };
    child.stderr!.on('data', print);
    child.once('close', end);
    child.once('message', (answer: Answer) => {
      child.stderr!.off('data', print);
      child.off('close', end);
      resolve(answer);
    });
  });
}

async function kill(child: ChildProcess): Promise<void> {
  if (!isAlive(child)) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

function isAlive({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}
