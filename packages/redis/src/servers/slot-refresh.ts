import type { Time } from '@sluice/core';
import type { Cancel } from '@sluice/core/store';
import type { ClusterConnection } from './cluster-connection.ts';

const INTERVAL_MS = 250;

/** Refreshes the slot map of a cluster on request, at most four times a second. */
export class SlotRefresh {
  readonly #cluster: ClusterConnection;
  readonly #time: Time;
  readonly #onFailure: () => void;
  #lastMicros = -Infinity;
  #cancel: Cancel | undefined;
  #isClosed = false;

  /** @param onFailure - Called if no node has answered. If one has, the listener of the cluster is called. */
  constructor(cluster: ClusterConnection, time: Time, onFailure: () => void) {
    this.#cluster = cluster;
    this.#time = time;
    this.#onFailure = onFailure;
  }

  schedule(): void {
    if (this.#cancel !== undefined || this.#isClosed) return;
    const sinceMs = (this.#time.nowMicros() - this.#lastMicros) / 1000;
    const alarm = this.#time.alarm(Math.max(1, INTERVAL_MS - sinceMs), () => {
      this.#cancel = undefined;
      this.#refresh();
    });
    this.#cancel = alarm.cancel;
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
  }

  #refresh(): void {
    this.#lastMicros = this.#time.nowMicros();
    if (!this.#cluster.isReady) return;
    this.#cluster.refresh(() => {
      if (!this.#isClosed) this.#onFailure();
    });
  }
}
