import type { Command } from '../console/command.ts';
import { COST_OPTION } from '../redis/cost.ts';
import { bucketExample } from './example.ts';
import { REDIS_OPTIONS } from '../redis/options.ts';
import { BUCKET_WORDS, LIMIT_FILE_OPTIONS } from './words.ts';

/** `sluice refund`: gives tokens back to a bucket. */
export const refund: Command = {
  about: [
    'Gives tokens back to the bucket of an id, up to its burst. Shows what is left. To repeat it safely, give ',
    '--up-to what peek showed before, plus the cost: then a second call gives back nothing.',
  ].join(''),
  args: BUCKET_WORDS,
  options: [
    ...REDIS_OPTIONS,
    COST_OPTION,
    { flags: '--up-to <tokens>', text: 'never fill the bucket above this number of tokens; default: its burst' },
    ...LIMIT_FILE_OPTIONS,
  ],
  example: bucketExample('refund --cost 5'),
  run: async (call) => (await import('../actions/refund.ts')).runRefund(call),
};
