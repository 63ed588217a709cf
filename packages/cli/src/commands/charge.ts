import type { Call, Command } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { BUCKET_WORDS, namedBucket } from '../limits/bucket-words.ts';
import { figuresLines, figuresOf } from '../limits/figures.ts';
import { KEYS_OPTION } from '../limits/files.ts';
import { COST_OPTION, costOf } from '../redis/cost.ts';
import { bucketExample } from '../redis/example.ts';
import { withLimits } from '../redis/open-limits.ts';
import { REDIS_OPTIONS } from '../redis/options.ts';
import { made } from '../redis/unknown-outcome.ts';

/** `sluice charge`: takes tokens from a bucket. */
export const charge: Command = {
  about: [
    'Takes tokens from the bucket of an id, whether they fit or not: at most up to an empty bucket, or to the maxDebt of ',
    'the limit. Shows what is left. Every call takes them again.',
  ].join(''),
  args: BUCKET_WORDS,
  options: [...REDIS_OPTIONS, COST_OPTION, KEYS_OPTION],
  example: bucketExample('charge --cost 5'),
  run: runCharge,
};

async function runCharge(call: Call): Promise<number> {
  const cost = costOf(call);
  const { loaded, limit, id } = await namedBucket(call);
  return withLimits(loaded, call, async ({ limiter, check }) => {
    const bucket = { loaded, limiter, limit, id, cost: 1 };
    const charged = await made(async () => {
      const states = await limiter.charge([{ limit, id, cost }]);
      check();
      return states.length > 0;
    }, 'Look at the bucket with sluice peek before you repeat it.');
    const figures = await figuresOf(bucket);
    call.console.note(charged ? `Charged ${cost}.` : `Charged nothing, because the id is ${figures.state}.`);
    call.console.result({ charged: charged ? cost : 0, bucket: figures }, () => figuresLines(figures));
    return EXIT.fine;
  });
}
