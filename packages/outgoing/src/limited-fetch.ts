import type { Scheduler } from '@sluice/core/scheduler';

/** The options of {@link limitedFetch}. */
export interface LimitedFetchOptions<Name extends string> {
  readonly scheduler: Scheduler<Name>;
  /** The names of the limits that each request takes a token or a slot of. */
  readonly limits: readonly Name[];
}

/** Returns a `fetch` that waits until the limits of a scheduler allow a request. */
export function limitedFetch<Name extends string>({ scheduler, limits }: LimitedFetchOptions<Name>): typeof fetch {
  return (input, init) => {
    const request = new Request(input, init);
    const id = new URL(request.url).origin;
    return scheduler.run(
      limits.map((limit) => ({ limit, id })),
      () => fetch(request),
    );
  };
}
