import type { Command } from '../console/command.ts';
import { COST_OPTION } from '../redis/cost.ts';
import { bucketExample } from './example.ts';
import { REDIS_OPTIONS } from '../redis/options.ts';
import { BUCKET_WORDS, LIMIT_FILE_OPTIONS } from './words.ts';

/** `sluice charge`: takes tokens from a bucket. */
export const charge: Command = {
  about: [
    'Takes tokens from the bucket of an id, whether they fit or not: at most up to an empty bucket, or to the maxDebt of ',
    'the limit. Shows what is left. Every call takes them again.',
  ].join(''),
  args: BUCKET_WORDS,
  options: [...REDIS_OPTIONS, COST_OPTION, ...LIMIT_FILE_OPTIONS],
  example: bucketExample('charge --cost 5'),
  run: async (call) => (await import('../actions/charge.ts')).runCharge(call),
};
