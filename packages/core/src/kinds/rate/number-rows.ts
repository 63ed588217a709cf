import { checkedDebt, checkedTokens, MAX_TOKENS, PERIOD, WAIT, type LimitNumbers } from '../../rule/rate.ts';
import type { OptionRow, OptionTable } from '../../limits/option.ts';

/** A row for a whole number of tokens. */
function tokens(about: string): OptionRow {
  return { about, value: { type: 'whole number', min: 1, max: MAX_TOKENS, example: '100' }, check: checkedTokens };
}

/** A row for the length of a period or a window. */
export function period(about: string): OptionRow {
  return { about, value: { type: 'duration', range: PERIOD, examples: ['1s', '1m', '180m', '24h', '7d'] } };
}

/** The rows of the numbers of a rate. */
export const NUMBER_ROWS: OptionTable<LimitNumbers> = {
  burst: tokens('The number of tokens in a full bucket: how many requests may come at once. Default: count.'),
  count: tokens('How many tokens come back every period.'),
  period: period('The time in which count tokens come back, from 1ms to 366 days, such as 1s, 180m or 7d.'),
  maxDebt: {
    about:
      'How many tokens a charge may take below an empty bucket. Default: 0; for an override, the maxDebt of its limit.',
    value: { type: 'whole number', min: 0, max: MAX_TOKENS, example: '1000' },
    check: checkedDebt,
  },
  maxWait: {
    about:
      'How long a request may wait for its tokens instead of being denied, from 1ms to 1h, such as 2s. Default: requests never wait; for an override, the maxWait of its limit.',
    value: { type: 'duration', range: WAIT, examples: ['500ms', '2s', '10s'] },
  },
};
