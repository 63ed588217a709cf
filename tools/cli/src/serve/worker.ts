import type { Metric } from '@sluice/core/metrics';
import type { Servers } from '@sluice/serve';

/** The ports on which all workers answer, also those that were chosen for port 0. */
export type SharedPorts = Pick<Servers['ports'], 'http' | 'grpc'>;

/** What a worker tells its primary. */
export type FromWorker =
  | { readonly type: 'ready'; readonly ports: SharedPorts }
  | { readonly type: 'metrics'; readonly call: number; readonly metrics: readonly Metric[] };

/** What a primary asks of a worker. */
export interface ToWorker {
  readonly type: 'metrics';
  readonly call: number;
}

/** Tells the primary where this worker listens, and answers it with what this worker has counted. */
export function answerPrimary(ports: SharedPorts, metrics: () => readonly Metric[]): void {
  const send = (message: FromWorker): void => void process.send?.(message);
  process.on('message', ({ type, call }: ToWorker) => {
    if (type === 'metrics') send({ type: 'metrics', call, metrics: metrics() });
  });
  send({ type: 'ready', ports });
}
