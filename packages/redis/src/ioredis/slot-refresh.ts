import type { Cancel, Scheduler } from '@sluice/core/kit';
import type { ClusterConnection } from './connection.ts';

const INTERVAL_MS = 250;

/** Refreshes the slot map of a cluster on request, at most four times a second. */
export class SlotRefresh {
  readonly #cluster: ClusterConnection;
  readonly #scheduler: Scheduler;
  readonly #onFailed: () => void;
  #lastMs = -Infinity;
  #cancel: Cancel | undefined;
  #isClosed = false;

  /** @param onFailed - Called if no node has answered. If one has, the cluster emits `refresh`. */
  constructor(cluster: ClusterConnection, scheduler: Scheduler, onFailed: () => void) {
    this.#cluster = cluster;
    this.#scheduler = scheduler;
    this.#onFailed = onFailed;
  }

  soon(): void {
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
    this.#cluster.refreshSlotsCache((error) => {
      if (error && !this.#isClosed) this.#onFailed();
    });
  }
}
