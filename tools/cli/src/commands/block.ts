import type { Command } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { AUDIT_OPTIONS, BLOCK_WORDS, BUCKET_OPTIONS, LIMIT_FILE_OPTIONS } from './words.ts';

/** `sluice block`: denies an id for some time. */
export const block: Command = {
  about: [
    'Denies all requests of an id at a limit for some time, in all servers on the store, within a second. Its bucket stays as it ',
    'is. Can be repeated safely: the new time and reason replace the old ones.',
  ].join(''),
  args: BLOCK_WORDS,
  options: [
    { flags: '--for <time>', text: 'for how long: 30m, 2h, 7d; at most 90d' },
    { flags: '--reason <text>', text: 'why, for those who see the block: at most 200 characters' },
    { flags: '--by <who>', text: 'who blocks it; default: user and host, where stdin is a terminal' },
    ...BUCKET_OPTIONS,
    ...AUDIT_OPTIONS.filter(({ flags }) => !/^--(?:by|reason) /.test(flags)),
    ...LIMIT_FILE_OPTIONS,
  ],
  example: "sluice block --redis redis://127.0.0.1:6379 Orders 12345678 --for 2h --reason 'ticket 4711' --by mia",
  async run(call) {
    const { blockId, blockText, namedText } = await import('../limits/blocks.ts');
    const made = await blockId(call);
    call.console.result(made, () => [`${namedText(made)}: ${blockText(made)}`]);
    return EXIT.fine;
  },
};
