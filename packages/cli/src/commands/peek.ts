import type { Command } from '../console/command.ts';
import { COST_OPTION } from '../redis/cost.ts';
import { bucketExample } from './example.ts';
import { REDIS_OPTIONS } from '../redis/options.ts';
import { BUCKET_WORDS, LIMIT_FILE_OPTIONS } from './words.ts';

/** `sluice peek`: shows what a bucket contains. */
export const peek: Command = {
  about: [
    'Shows what is left in the bucket of an id, and what the next decision is: by the store of your servers, with their ',
    'limits and overrides. Changes nothing.',
  ].join(''),
  args: BUCKET_WORDS,
  options: [...REDIS_OPTIONS, COST_OPTION, ...LIMIT_FILE_OPTIONS],
  example: bucketExample('peek'),
  run: async (call) => (await import('../actions/peek.ts')).runPeek(call),
};
