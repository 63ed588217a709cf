import type { Time } from '@sluice/core';
import type { Metric } from '@sluice/core/metrics';
import { removeStaleSocket, type OperatorAnswer } from '@sluice/serve';
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { CommandError } from '../console/failure.ts';
import type { Console } from '../console/console.ts';
import type { ServeSettings } from './options.ts';
import { listeningAt } from './listening.ts';
import { WorkerMetrics } from './worker-metrics.ts';
import type { FromWorker, SharedPorts, ToWorker } from './worker.ts';

/** A worker that ends is replaced after this time, so that one that ends at once does not take all processor time. */
const REPLACE_AFTER_MS = 1000;
/** How long `/metrics` waits for a worker. */
const METRICS_WITHIN_MS = 1000;
/** How long an operator waits for a worker: longer than the worker waits for its store. */
const OPERATE_WITHIN_MS = 5000;

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
  readonly #metrics = new WorkerMetrics<Worker>();
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

  /** Adds up what all workers have counted. Of one that does not answer, its last answer. */
  async metrics(): Promise<readonly Metric[]> {
    await Promise.all(
      [...this.#workers].map((worker) =>
        this.#ask(worker, { type: 'metrics', call: ++this.#calls }, METRICS_WITHIN_MS),
      ),
    );
    return this.#metrics.all();
  }

  /** Lets one of the workers answer an operator: all have the same store. */
  async operate(request: unknown): Promise<OperatorAnswer> {
    const worker = [...this.#workers].find((each) => each.isConnected());
    const message =
      worker === undefined
        ? undefined
        : await this.#ask(worker, { type: 'operate', call: ++this.#calls, request }, OPERATE_WITHIN_MS);
    const answer = message?.type === 'operated' ? message.answer : undefined;
    // It may have executed the call, and have ended before its answer.
    return answer ?? { status: 500, body: '{}' };
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
        if (message.type === 'metrics') this.#metrics.note(worker, message.metrics);
        if (message.type !== 'ready') return;
        isReady = true;
        this.#notePorts(message.ports);
        resolve(undefined);
      });
      worker.on('exit', (code: number | null, signal: string | null) => {
        this.#workers.delete(worker);
        this.#metrics.end(worker);
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

  /** Resolves with the answer of a worker; undefined if it has ended, or has had its time. */
  #ask(worker: Worker, message: ToWorker, withinMs: number): Promise<FromWorker | undefined> {
    return new Promise((resolve) => {
      const end = (answer?: FromWorker): void => {
        alarm.cancel();
        worker.off('message', take).off('exit', ended);
        resolve(answer);
      };
      const ended = (): void => end();
      const take = (answer: FromWorker): void => {
        if (answer.type !== 'ready' && answer.call === message.call) end(answer);
      };
      const alarm = this.#time.alarm(withinMs, ended);
      worker.on('message', take).on('exit', ended);
      // The channel of a worker that is about to end may be closed.
      worker.send(message, (error) => void (error !== null && end()));
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
