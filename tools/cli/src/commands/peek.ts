import type { Command } from '../console/command.ts';
import { BUCKET_OPTIONS, BUCKET_WORDS, bucketExample, COST_OPTION, costOf, LIMIT_FILE_OPTIONS } from './words.ts';

/** `sluice peek`: shows what a bucket contains. */
export const peek: Command = {
  about: [
    'Shows what is left in the bucket of an id, and what the next decision is: by the store of your servers, with their ',
    'limits and overrides. Changes nothing.',
  ].join(''),
  args: BUCKET_WORDS,
  options: [...BUCKET_OPTIONS, COST_OPTION, ...LIMIT_FILE_OPTIONS],
  example: bucketExample('peek'),
  async run(call) {
    const cost = costOf(call);
    const { withBucket } = await import('../limits/bucket.ts');
    return withBucket(call, async (bucket) => {
      const figures = await bucket.figures(cost);
      if (figures.features.includes('overshoot'))
        call.console.note('Tokens that processes have leased count as taken.');
      return { figures, result: figures };
    });
  },
};
