import { SluiceError } from '@sluice/core';
import { TICKS_PER_MICRO } from '@sluice/core/kit';
import { CallDeadlines } from './call-deadlines.ts';
import type { Line, ScriptCall } from './script-client.ts';
import type { LineParts } from './line-parts.ts';
import type { LineChange, LineStatus } from './connection-status.ts';
import { notReady } from './server-errors.ts';
import type { Servers } from './servers.ts';
import { StateLog, type Source } from './state-log.ts';
import { Trip } from './script-run.ts';

export interface ScriptLineParts extends LineParts {
  readonly makeServers: (onChange: (source: Source) => void) => Servers;
  readonly onChange: (change: LineChange) => void;
}

/** A line to a single server or to a cluster. */
export class ScriptLine implements Line {
  readonly #parts: ScriptLineParts;
  readonly #servers: Servers;
  readonly #log: StateLog;
  readonly #deadlines: CallDeadlines;
  #isClosed = false;
  /** Resolves when the state is `up`. Created by the first caller of `ready`. */
  #up: Promise<void> | undefined;
  #isUp = (): void => {};
  #end: Promise<void> | undefined;

  constructor(parts: ScriptLineParts) {
    this.#parts = parts;
    this.#log = new StateLog(parts.scheduler, parts.onChange);
    this.#deadlines = new CallDeadlines(parts.scheduler);
    this.#servers = parts.makeServers((source) => this.#noteState(source));
  }

  get isCluster(): boolean {
    return this.#servers.isCluster;
  }

  run(call: ScriptCall): Promise<readonly unknown[]> {
    if (this.#isClosed) return Promise.reject(closedError());
    const { counts, clock } = this.#parts;
    counts.calls++;
    const trip = new Trip(call, clock.nowMicros() * TICKS_PER_MICRO);
    const answer = this.#servers.run(trip);
    if (!(answer instanceof SluiceError)) {
      return this.#deadlines.race(answer, trip.leftMs, () => this.#missed(trip));
    }
    counts.unreachable++;
    return Promise.reject(answer);
  }

  ready(timeoutMs: number): Promise<void> {
    if (this.#isClosed) return Promise.reject(closedError());
    if (this.#servers.state === 'up') return Promise.resolve();
    this.#up ??= new Promise((resolve) => (this.#isUp = resolve));
    return this.#deadlines.race(this.#up, timeoutMs, () =>
      this.#isClosed ? closedError() : this.#notReady(timeoutMs),
    );
  }

  status(): LineStatus {
    const { state, since, lastError } = this.#log;
    const servers = this.#servers.channels().map(({ server, isOpen, clockUncertaintyMs }) => {
      return { server, ready: isOpen, clockUncertaintyMs };
    });
    return { state, since, servers, lastError, counts: { ...this.#parts.counts } };
  }

  close(): Promise<void> {
    this.#end ??= this.#close();
    return this.#end;
  }

  #close(): Promise<void> {
    this.#isClosed = true;
    this.#deadlines.expireAll();
    this.#log.close();
    return this.#servers.close();
  }

  #noteState(source: Source): void {
    const { state } = this.#servers;
    this.#log.note(state, source);
    if (state !== 'up') return;
    this.#isUp();
    this.#up = undefined;
  }

  #notReady(timeoutMs: number): SluiceError {
    const missing = this.#servers.channels().filter(({ isWell }) => !isWell);
    const servers = missing.map(({ server }) => server).join(', ') || 'the nodes of the cluster';
    const { lastError = this.#log.lastError?.cause } = missing[0] ?? {};
    return notReady(servers, timeoutMs, lastError);
  }

  #missed({ call, channel }: Trip): SluiceError {
    if (this.#isClosed) return closedWhileWaiting();
    this.#parts.counts.missed++;
    // `channel` is set, because only a call that was sent can miss its deadline.
    channel!.missed();
    return new SluiceError(
      'ERR_STORE_DEADLINE',
      `Redis at ${channel!.server} did not answer the script ${call.script.name} within ${call.deadlineMs} ms.`,
    );
  }
}

function closedError(): SluiceError {
  return new SluiceError('ERR_CLOSED', 'The Redis store is closed. Close it after its limiters.');
}

function closedWhileWaiting(): SluiceError {
  return new SluiceError('ERR_STORE_UNAVAILABLE', 'The Redis store was closed before Redis had answered.');
}
