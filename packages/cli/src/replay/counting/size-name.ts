import type { LimitReport } from './report.ts';

/** Returns the name of the number that limits how many requests may come at once. */
export function sizeName({ kind }: Pick<LimitReport, 'kind'>): 'burst' | 'count' | 'concurrency' {
  if (kind === 'concurrency') return 'concurrency';
  return kind === 'quota' ? 'count' : 'burst';
}
