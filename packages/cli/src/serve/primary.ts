import type { Time } from '@sluice/core';
import { joinedMetrics, type Metric } from '@sluice/core/metrics';
import { removeStaleSocket } from '@sluice/serve';
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { CommandError } from '../console/failure.ts';
import type { Console } from '../console/console.ts';
import type { ServeSettings } from './options.ts';
import { listeningAt } from './listening.ts';
import type { FromWorker, SharedPorts, ToWorker } from './worker.ts';

/** A worker that ends is replaced after this time, so that one that ends at once does not take all processor time. */
const REPLACE_AFTER_MS = 1000;
/** How long `/metrics` waits for a worker. */
const METRICS_WITHIN_MS = 1000;

/** How a process ended: by itself, or by a signal. */
interface End {
  readonly code: number | null;
  readonly signal: string | null;
}

/** The workers of a service, which share its addresses. */
export class Workers {
  readonly #console: Console;
  readonly #time: Time;
  readonly #settings: ServeSettings;
  readonly #workers = new Set<Worker>();
  #ports: SharedPorts | undefined;
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
   * @throws {CommandError} If one ends before it answers.
   */
  async start(): Promise<void> {
    const { addresses, processes } = this.#settings;
    for (const address of [addresses.http, addresses.grpc]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      if (address !== undefined && 'path' in address) await removeStaleSocket(address.path);
    }
    const ready = Array.from({ length: processes }, () => this.#fork());
    const ends = (await Promise.all(ready)).filter((end) => end !== undefined);
    if (ends.length === 0) return;
    await this.stop();
    throw new CommandError(startMessage(ends));
  }

  /** The ports that the workers share. Undefined before one answers. */
  get ports(): SharedPorts | undefined {
    return this.#ports;
  }

  /** Adds up what all workers have counted. One that does not answer is left out. */
  async metrics(): Promise<readonly Metric[]> {
    return joinedMetrics(await Promise.all([...this.#workers].map((worker) => this.#metricsOf(worker))));
  }

  /** Lets all workers answer what is there, and end. */
  async stop(): Promise<void> {
    this.#isEnding = true;
    const ended = [...this.#workers].map((worker) => once(worker, 'exit'));
    for (const worker of this.#workers) worker.process.kill('SIGTERM');
    await Promise.all(ended);
  }

  /** Starts a worker. Resolves when it answers; with how it ended if it ends before. */
  #fork(): Promise<End | undefined> {
    const worker = cluster.fork();
    this.#workers.add(worker);
    return new Promise((resolve) => {
      let isReady = false;
      worker.on('message', (message: FromWorker) => {
        if (message.type !== 'ready') return;
        isReady = true;
        this.#notePorts(message.ports);
        resolve(undefined);
      });
      worker.on('exit', (code: number | null, signal: string | null) => {
        this.#workers.delete(worker);
        const end = { code, signal };
        resolve(end);
        if (isReady && !this.#isEnding) this.#replace(endText(end));
      });
    });
  }

  /** Port 0 is chosen once for all workers. It is chosen again when none is left that listens on the first choice. */
  #notePorts(ports: SharedPorts): void {
    const before = this.#ports;
    this.#ports = ports;
    if (before === undefined || (before.http === ports.http && before.grpc === ports.grpc)) return;
    const all = listeningAt({ ...this.#settings.addresses, metrics: undefined }, ports);
    const listeners = all.map(([name, address]) => `${name} listens on ${address}`);
    this.#console.line(`Sluice: all processes had ended, so port 0 was chosen anew: ${listeners.join(', ')}`);
  }

  #replace(reason: string): void {
    this.#console.line(`Sluice: a process ended (${reason}); another one replaces it`);
    this.#time.alarm(REPLACE_AFTER_MS, () => {
      if (this.#isEnding) return;
      void this.#fork().then((end) => {
        if (end !== undefined && !this.#isEnding) this.#replace(`it could not start: ${endText(end)}`);
      });
    });
  }

  #metricsOf(worker: Worker): Promise<readonly Metric[]> {
    const call = ++this.#calls;
    return new Promise((resolve) => {
      const take = (message: FromWorker): void => {
        if (message.type !== 'metrics' || message.call !== call) return;
        alarm.cancel();
        worker.off('message', take);
        resolve(message.metrics);
      };
      const alarm = this.#time.alarm(METRICS_WITHIN_MS, () => {
        worker.off('message', take);
        resolve([]);
      });
      worker.on('message', take);
      worker.send({ type: 'metrics', call } satisfies ToWorker);
    });
  }
}

function endText({ code, signal }: End): string {
  return signal ?? `code ${code}`;
}

/** A worker that ends by itself has written why. One that was killed could not. */
function startMessage(ends: readonly End[]): string {
  const bySelf = ends.find(({ signal }) => signal === null);
  if (bySelf !== undefined) return `A process ended (${endText(bySelf)}) before it could answer. The reason is above.`;
  return `A process was killed (${endText(ends[0]!)}) before it could answer, so the service ends. It was killed from outside, for example because the machine has too little memory for --processes.`;
}
