import type { Console } from '../../console/console.ts';
import { count, share } from '../counting/figures-text.ts';
import type { SuggestReport } from './suggest-report.ts';

/** Returns suggestions as lines for people. */
export function suggestLines(
  { partial, input, ids, key, suggestions, notes }: SuggestReport,
  console: Console,
): string[] {
  return [
    ...partial.map((why) => console.styled('yellow', `PART OF THE LOG: ${why}`)),
    `${count(input.requests)} requests of ${count(ids)} ids, by ${key}`,
    ...suggestions.flatMap(({ tightestIn, yaml, requests, denied, deniedSuccesses, deniedIds }) => [
      '',
      console.styled('bold', `Fewest requests of a client in ${tightestIn}`),
      `  ${yaml}`,
      `  denies ${share(deniedIds, ids)} ids, and ${share(denied, requests)} requests, of which ${share(deniedSuccesses, denied.high)} had succeeded`,
    ]),
    '',
    ...notes.map((note) => `- ${note}`),
  ];
}
