import type { Call, Command } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { BUCKET_WORDS, namedBucket } from '../limits/bucket-words.ts';
import { figuresLines, figuresOf } from '../limits/figures.ts';
import { KEYS_OPTION } from '../limits/files.ts';
import { COST_OPTION, costOf } from '../redis/cost.ts';
import { bucketExample } from '../redis/example.ts';
import { withLimits } from '../redis/open-limits.ts';
import { REDIS_OPTIONS } from '../redis/options.ts';

/** `sluice peek`: shows what a bucket contains. */
export const peek: Command = {
  about: [
    'Shows what is left in the bucket of an id, and what the next decision is: by the store of your servers, with their ',
    'limits and overrides. Changes nothing.',
  ].join(''),
  args: BUCKET_WORDS,
  options: [...REDIS_OPTIONS, COST_OPTION, KEYS_OPTION],
  example: bucketExample('peek'),
  run: runPeek,
};

async function runPeek(call: Call): Promise<number> {
  const cost = costOf(call);
  const { loaded, limit, id } = await namedBucket(call);
  const figures = await withLimits(loaded, call, ({ limiter }) => figuresOf({ loaded, limiter, limit, id, cost }));
  call.console.result(figures, () => figuresLines(figures));
  return EXIT.fine;
}
