import type { Time } from '@sluice/core';
import { removeStaleSocket, summed, type Sample } from '@sluice/serve';
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { CommandError } from '../console/failure.ts';
import type { Console } from '../console/console.ts';
import type { ServeSettings } from './options.ts';
import type { FromWorker, ToWorker } from './worker.ts';

/** A worker that ends is replaced after this time, so that one that ends at once does not take all processor time. */
const REPLACE_AFTER_MS = 1000;
/** How long `/metrics` waits for a worker. */
const SAMPLES_WITHIN_MS = 1000;

/** The workers of a service, which share its addresses. */
export class Workers {
  readonly #console: Console;
  readonly #time: Time;
  readonly #settings: ServeSettings;
  readonly #workers = new Set<Worker>();
  #isEnding = false;
  #calls = 0;

  constructor(console: Console, settings: ServeSettings) {
    this.#console = console;
    this.#time = console.time;
    this.#settings = settings;
  }

  /**
   * Starts all workers, and waits until they answer.
   *
   * @throws {CommandError} If one ends before it answers: the reason is on stderr.
   */
  async start(): Promise<void> {
    const { addresses, processes } = this.#settings;
    for (const address of [addresses.http, addresses.grpc]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      if (address !== undefined && 'path' in address) await removeStaleSocket(address.path);
    }
    const ready = Array.from({ length: processes }, () => this.#fork());
    const all = await Promise.all(ready);
    if (all.every(Boolean)) return;
    await this.stop();
    throw new CommandError('A process ended before it could answer. The reason is above.');
  }

  /** Adds up what all workers have counted. One that does not answer is left out. */
  async samples(): Promise<readonly Sample[]> {
    return summed(await Promise.all([...this.#workers].map((worker) => this.#samplesOf(worker))));
  }

  /** Lets all workers answer what is there, and end. */
  async stop(): Promise<void> {
    this.#isEnding = true;
    const ended = [...this.#workers].map((worker) => once(worker, 'exit'));
    for (const worker of this.#workers) worker.process.kill('SIGTERM');
    await Promise.all(ended);
  }

  /** Resolves when the worker answers, with true; with false if it ends before. */
  #fork(): Promise<boolean> {
    const worker = cluster.fork();
    this.#workers.add(worker);
    return new Promise((resolve) => {
      let isReady = false;
      worker.on('message', ({ type }: FromWorker) => {
        if (type !== 'ready') return;
        isReady = true;
        resolve(true);
      });
      worker.on('exit', (code, signal) => {
        this.#workers.delete(worker);
        resolve(false);
        if (isReady && !this.#isEnding) this.#replace(signal ?? `code ${code}`);
      });
    });
  }

  #replace(reason: string): void {
    this.#console.note(`Sluice: a process ended (${reason}); another one replaces it`);
    this.#time.alarm(REPLACE_AFTER_MS, () => {
      if (this.#isEnding) return;
      void this.#fork().then((isReady) => {
        if (!isReady && !this.#isEnding) this.#replace('it could not start');
      });
    });
  }

  #samplesOf(worker: Worker): Promise<readonly Sample[]> {
    const call = ++this.#calls;
    return new Promise((resolve) => {
      const take = (message: FromWorker): void => {
        if (message.type !== 'samples' || message.call !== call) return;
        alarm.cancel();
        worker.off('message', take);
        resolve(message.samples);
      };
      const alarm = this.#time.alarm(SAMPLES_WITHIN_MS, () => {
        worker.off('message', take);
        resolve([]);
      });
      worker.on('message', take);
      worker.send({ type: 'samples', call } satisfies ToWorker);
    });
  }
}
