import type { Sample } from '@sluice/serve';

/** What a worker tells its primary. */
export type FromWorker =
  { readonly type: 'ready' } | { readonly type: 'samples'; readonly call: number; readonly samples: readonly Sample[] };

/** What a primary asks of a worker. */
export interface ToWorker {
  readonly type: 'samples';
  readonly call: number;
}

/** Answers the primary with what this worker has counted. */
export function answerPrimary(samples: () => readonly Sample[]): void {
  const send = (message: FromWorker): void => void process.send?.(message);
  process.on('message', ({ type, call }: ToWorker) => {
    if (type === 'samples') send({ type: 'samples', call, samples: samples() });
  });
  send({ type: 'ready' });
}
