import type { Cancel, Scheduler } from '@sluice/core/kit';
import type { ClusterConnection } from './connection.ts';
import { refreshSlots } from './private-names.ts';

const INTERVAL_MS = 250;

/** Refreshes the slot map of a cluster on request, at most four times a second. */
export class SlotRefresh {
  readonly #cluster: ClusterConnection;
  readonly #scheduler: Scheduler;
  readonly #onFailure: () => void;
  #lastMs = -Infinity;
  #cancel: Cancel | undefined;
  #isClosed = false;

  /** @param onFailure - Called if no node has answered. If one has, the cluster emits an event. */
  constructor(cluster: ClusterConnection, scheduler: Scheduler, onFailure: () => void) {
    this.#cluster = cluster;
    this.#scheduler = scheduler;
    this.#onFailure = onFailure;
  }

  schedule(): void {
    if (this.#cancel !== undefined || this.#isClosed) return;
    const delayMs = Math.max(1, this.#lastMs + INTERVAL_MS - this.#scheduler.nowMs());
    this.#cancel = this.#scheduler.after(delayMs, () => {
      this.#cancel = undefined;
      this.#refresh();
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
  }

  #refresh(): void {
    this.#lastMs = this.#scheduler.nowMs();
    // A cluster that is connecting refreshes the map by itself.
    if (this.#cluster.status !== 'ready') return;
    refreshSlots(this.#cluster, () => {
      if (!this.#isClosed) this.#onFailure();
    });
  }
}
