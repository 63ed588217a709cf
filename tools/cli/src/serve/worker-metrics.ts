import { joinedMetrics, type Metric } from '@sluice/core/metrics';

/** What workers have counted, by the last answer of each. The counters of one that ended stay, so that none falls. */
export class WorkerMetrics<Worker> {
  readonly #last = new Map<Worker, readonly Metric[]>();
  #ended: readonly Metric[] = [];

  note(worker: Worker, metrics: readonly Metric[]): void {
    this.#last.set(worker, metrics);
  }

  end(worker: Worker): void {
    const counted = this.#last.get(worker)?.filter(({ type }) => type !== 'gauge') ?? [];
    this.#last.delete(worker);
    this.#ended = joinedMetrics([this.#ended, counted]);
  }

  all(): readonly Metric[] {
    return joinedMetrics([...this.#last.values(), this.#ended]);
  }
}
