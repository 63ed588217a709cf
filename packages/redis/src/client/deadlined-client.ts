import { SluiceError } from '@sluice/core';
import { CallDeadlines } from '@sluice/core/kit';
import { ConnectionReports } from './connection-reports.ts';
import type { ConnectionChange, ConnectionReport, ConnectionStatus } from './connection-status.ts';
import type { ScriptClient } from './script-client.ts';
import type { ScriptCall } from './script.ts';
import { AwaitedRun, type RunClient, type ScriptRun } from './script-run.ts';
import type { ClientParts, ScriptServers } from './script-servers.ts';
import { notReadyError } from './server-errors.ts';
import { StateLog, type ChangeSource } from './state-log.ts';

export interface DeadlinedClientParts extends ClientParts {
  readonly createServers: (onChange: (source: ChangeSource) => void) => ScriptServers;
  readonly onChange: (change: ConnectionChange) => void;
}

/** A client of a single server or a cluster that gives each call its deadline. */
export class DeadlinedClient implements ScriptClient, RunClient {
  readonly #parts: DeadlinedClientParts;
  readonly #servers: ScriptServers;
  readonly #log: StateLog;
  readonly #deadlines: CallDeadlines;
  readonly #reports = new ConnectionReports();
  #isClosed = false;
  /** Resolves when the state is `up`. Created by the first caller of `ready`. */
  #up: Promise<void> | undefined;
  #resolveUp = (): void => {};
  #closing: Promise<void> | undefined;

  constructor(parts: DeadlinedClientParts) {
    this.#parts = parts;
    this.#log = new StateLog(parts.time, parts.onChange);
    this.#deadlines = new CallDeadlines(parts.time);
    this.#servers = parts.createServers((source) => this.#noteState(source));
  }

  get isCluster(): boolean {
    return this.#servers.isCluster;
  }

  send(run: ScriptRun, nowMicros: number): void {
    if (this.#isClosed) return run.failed(closedError());
    const { counts } = this.#parts;
    counts.calls++;
    const server = this.#servers.serverOf(run);
    if (server instanceof SluiceError) {
      counts.unreachable++;
      return run.failed(server);
    }
    run.begin(this, this.#deadlines.of(run.leftMs(nowMicros)), nowMicros);
    server.send(run);
  }

  run(call: ScriptCall): Promise<readonly unknown[]> {
    const { script, time } = this.#parts;
    const nowMicros = time.nowMicros();
    const run = new AwaitedRun(call, call.script ?? script, nowMicros);
    this.send(run, nowMicros);
    return run.reply;
  }

  ready(timeoutMs: number): Promise<void> {
    if (this.#isClosed) return Promise.reject(closedError());
    if (this.#servers.state === 'up') return Promise.resolve();
    this.#up ??= new Promise((resolve) => (this.#resolveUp = resolve));
    return this.#deadlines
      .of(timeoutMs)
      .race(this.#up, () => (this.#isClosed ? closedError() : this.#createNotReadyError(timeoutMs)));
  }

  noteMiss({ script, deadlineMs, sentTo }: ScriptRun): SluiceError {
    if (this.#isClosed) return closedWhileWaiting();
    this.#parts.counts.missed++;
    // `sentTo` is set, because only a run that was sent can miss its deadline.
    sentTo!.noteMiss();
    return new SluiceError(
      'ERR_STORE_DEADLINE',
      `Redis at ${sentTo!.server} did not answer the script ${script.name} within ${deadlineMs} ms.`,
    );
  }

  watch(listener: (report: ConnectionReport) => void): () => void {
    return this.#reports.watch(listener);
  }

  status(): ConnectionStatus {
    const { state, since, lastError } = this.#log;
    const servers = this.#servers.list().map(({ server, isOpen, clockUncertaintyMs }) => {
      return { server, ready: isOpen, clockUncertaintyMs };
    });
    return { state, since, servers, lastError, counts: { ...this.#parts.counts } };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #close(): Promise<void> {
    this.#isClosed = true;
    this.#deadlines.expireAll();
    this.#log.close();
    this.#reports.close();
    return this.#servers.close();
  }

  #noteState(source: ChangeSource): void {
    const { state } = this.#servers;
    this.#log.note(state, source);
    if (state === 'up') {
      this.#resolveUp();
      this.#up = undefined;
    }
    this.#reports.note(this.#servers);
  }

  #createNotReadyError(timeoutMs: number): SluiceError {
    const missing = this.#servers.list().filter(({ isHealthy }) => !isHealthy);
    const servers = missing.map(({ server }) => server).join(', ') || 'the nodes of the cluster';
    const { lastError = this.#log.lastError?.cause } = missing[0] ?? {};
    return notReadyError(servers, timeoutMs, lastError);
  }
}

function closedError(): SluiceError {
  return new SluiceError('ERR_CLOSED', 'The Redis store is closed. Close it after its limiters.');
}

function closedWhileWaiting(): SluiceError {
  return new SluiceError('ERR_STORE_UNAVAILABLE', 'The Redis store was closed before Redis had answered.');
}
