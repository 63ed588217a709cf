import type { Command } from '../console/command.ts';
import { bucketExample } from './example.ts';
import { REDIS_OPTIONS } from '../redis/options.ts';
import { BUCKET_WORDS, LIMIT_FILE_OPTIONS } from './words.ts';

/** `sluice reset`: fills a bucket. */
export const reset: Command = {
  about: [
    'Fills the bucket of an id, and frees all slots of a concurrency limit. Asks for the name of the limit first, unless ',
    '--yes is given. Can be repeated safely.',
  ].join(''),
  args: BUCKET_WORDS,
  options: [...REDIS_OPTIONS, { flags: '--yes', text: 'do not ask' }, ...LIMIT_FILE_OPTIONS],
  example: bucketExample('reset --yes'),
  run: async (call) => (await import('../actions/reset.ts')).runReset(call),
};
