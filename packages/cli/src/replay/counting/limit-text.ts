import { durationText } from '../../console/duration-text.ts';
import { count } from './figures-text.ts';
import type { LimitReport } from './report.ts';

/** Returns the numbers of a limit. */
export function numbersText({
  kind,
  burst,
  count: tokens,
  periodMs,
}: Pick<LimitReport, 'kind' | 'burst' | 'count' | 'periodMs'>): string {
  if (kind === 'concurrency') return `${count(burst)} at the same time`;
  return kind === 'quota'
    ? `${count(tokens)} in each period`
    : `${count(tokens)} per ${durationText(periodMs)}, burst ${count(burst)}`;
}

/** Returns the name of the number that limits how many requests may come at once. */
export function sizeName({ kind }: Pick<LimitReport, 'kind'>): 'burst' | 'count' | 'concurrency' {
  if (kind === 'concurrency') return 'concurrency';
  return kind === 'quota' ? 'count' : 'burst';
}
