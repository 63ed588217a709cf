import type { Cancel, Time } from '@sluice/core';
import type { ClusterConnection } from './connection.ts';
import { refreshSlots } from './private-names.ts';

const INTERVAL_MS = 250;

/** Refreshes the slot map of a cluster on request, at most four times a second. */
export class SlotRefresh {
  readonly #cluster: ClusterConnection;
  readonly #time: Time;
  readonly #onFailure: () => void;
  #lastMicros = -Infinity;
  #cancel: Cancel | undefined;
  #isClosed = false;

  /** @param onFailure - Called if no node has answered. If one has, the cluster emits an event. */
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
    // A cluster that is connecting refreshes the map by itself.
    if (this.#cluster.status !== 'ready') return;
    refreshSlots(this.#cluster, () => {
      if (!this.#isClosed) this.#onFailure();
    });
  }
}
