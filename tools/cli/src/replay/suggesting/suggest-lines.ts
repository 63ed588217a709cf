import type { Console } from '../../console/console.ts';
import { partLines } from '../counting/report-lines.ts';
import { band, counted, share } from '../counting/figures-text.ts';
import type { SuggestReport, Suggestion } from './suggest-report.ts';

/** Returns suggestions as lines for people. */
export function suggestLines(
  { partial, input, ids, key, suggestions, notes }: SuggestReport,
  console: Console,
): string[] {
  return [
    ...partial.flatMap((why) => partLines(why, console)),
    `${counted(input.requests, 'request')} of ${counted(ids, 'id')}, by ${key}`,
    ...(suggestions.length === 0 ? ['', `No suggestion: ${whyNone(input, key, ids)}.`] : []),
    ...suggestions.flatMap((suggestion) => [
      '',
      `${console.styled('bold', `Tightest in ${suggestion.tightestIn}`)}: at most ${counted(suggestion.most, 'request')} of a client`,
      `  ${suggestion.yaml}`,
      ...priceLines(suggestion, ids),
    ]),
    '',
    ...notes.flatMap((note) => console.row(`- ${note}`)),
  ];
}

function whyNone({ requests }: SuggestReport['input'], key: string, ids: number): string {
  if (ids > 0) return 'the costs are so high that no limit has a burst that is large enough';
  return requests === 0 ? 'the log has no requests' : `no request that the limit is for has an id by ${key}`;
}

function priceLines({ requests, denied, deniedSuccesses, deniedIds }: Suggestion, ids: number): string[] {
  if (denied.high === 0) return ['  denied    no request'];
  return [
    `  ids       ${share(deniedIds, ids)} denied at least once`,
    `  denied    ${share(denied, requests)}, of which ${band(deniedSuccesses)} had succeeded`,
  ];
}
