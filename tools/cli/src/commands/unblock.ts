import type { Command } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { AUDIT_OPTIONS, BLOCK_WORDS, BUCKET_OPTIONS, LIMIT_FILE_OPTIONS } from './words.ts';

/** `sluice unblock`: ends the block of an id. */
export const unblock: Command = {
  about: [
    'Ends the block of an id at a limit, in all servers on the store, within a second; an idle one may deny one more request. An ',
    'override that blocks the id stays. Can be repeated safely.',
  ].join(''),
  args: BLOCK_WORDS,
  options: [...BUCKET_OPTIONS, ...AUDIT_OPTIONS, ...LIMIT_FILE_OPTIONS],
  example: 'sluice unblock --redis redis://127.0.0.1:6379 Orders 12345678',
  async run(call) {
    const { blockText, namedText, shownId, unblockId } = await import('../limits/blocks.ts');
    const { name, blockedBy, ended } = await unblockId(call);
    const how = ended === undefined ? 'was not blocked' : `is not blocked any more. It was ${blockText(ended)}`;
    call.console.result({ ...name, ended: ended ?? null, blockedBy }, () => [`${namedText(name)} ${how}`]);
    if (blockedBy !== null)
      call.console.note(`An override for ${shownId(blockedBy)} still denies it. To let it in, change the overrides.`);
    return EXIT.fine;
  },
};
