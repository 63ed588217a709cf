import type { Console } from '../../console/console.ts';
import { count, share } from '../counting/figures-text.ts';
import type { SuggestReport, Suggestion } from './suggest-report.ts';

/** Returns suggestions as lines for people. */
export function suggestLines(
  { partial, input, ids, key, suggestions, notes }: SuggestReport,
  console: Console,
): string[] {
  return [
    ...partial.map((why) => console.styled('yellow', `PART OF THE LOG: ${why}`)),
    `${count(input.requests)} requests of ${count(ids)} ids, by ${key}`,
    ...suggestions.flatMap((suggestion) => [
      '',
      console.styled('bold', `Fewest requests of a client in ${suggestion.tightestIn}`),
      `  ${suggestion.yaml}`,
      `  ${priceText(suggestion, ids)}`,
    ]),
    '',
    ...notes.map((note) => `- ${note}`),
  ];
}

function priceText({ requests, denied, deniedSuccesses, deniedIds }: Suggestion, ids: number): string {
  if (denied.high === 0) return 'denies no request';
  const succeeded = share(deniedSuccesses, denied.high);
  return `denies ${share(deniedIds, ids)} ids, and ${share(denied, requests)} requests, of which ${succeeded} had succeeded`;
}
