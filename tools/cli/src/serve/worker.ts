import type { Metric } from '@sluice/core/metrics';
import type { OperatorAnswer, Servers } from '@sluice/serve';

/** The ports on which all workers answer, also those that were chosen for port 0. */
export type SharedPorts = Pick<Servers['ports'], 'http' | 'grpc'>;

/** What a worker tells its primary. */
export type FromWorker =
  | { readonly type: 'ready'; readonly ports: SharedPorts }
  | { readonly type: 'metrics'; readonly call: number; readonly metrics: readonly Metric[] }
  | { readonly type: 'operated'; readonly call: number; readonly answer: OperatorAnswer | undefined };

/** What a primary asks of a worker. */
export type ToWorker =
  | { readonly type: 'metrics'; readonly call: number }
  | { readonly type: 'operate'; readonly call: number; readonly request: unknown };

/** What a worker can be asked. */
interface Answers {
  readonly metrics: () => readonly Metric[];
  readonly operate: (request: unknown) => Promise<OperatorAnswer>;
}

/** Tells the primary where this worker listens, and answers it with what this worker has counted, and for operators. */
export function answerPrimary(ports: SharedPorts, { metrics, operate }: Answers): void {
  const send = (message: FromWorker): void => void process.send?.(message);
  process.on('message', (message: ToWorker) => {
    const { type, call } = message;
    if (type === 'metrics') return send({ type, call, metrics: metrics() });
    const answered = (answer?: OperatorAnswer): void => send({ type: 'operated', call, answer });
    operate(message.request).then(answered, () => answered());
  });
  send({ type: 'ready', ports });
}
