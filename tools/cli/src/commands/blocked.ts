import type { Command } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { REDIS_OPTIONS, STORE_OPTIONS } from '../redis/options.ts';

/** `sluice blocked`: lists the blocked ids. */
export const blocked: Command = {
  about: [
    'Lists the ids that sluice block and limiter.block have blocked, with the end, who did it, and why: the first to end first. ',
    'Overrides that block ids are not among them.',
  ].join(''),
  args: [{ name: '[limit]', text: 'only those of this limit', values: [] }],
  options: [...STORE_OPTIONS, ...REDIS_OPTIONS],
  example: 'sluice blocked --redis redis://127.0.0.1:6379',
  async run(call) {
    const { blockText, listedBlocks, namedText } = await import('../limits/blocks.ts');
    const [limit] = call.args;
    const blocks = await listedBlocks(call, limit);
    if (blocks.length === 0)
      call.console.note(`No id is blocked${limit === undefined ? '' : ` at the limit ${limit}`}.`);
    const nowMs = call.console.time.wallNow();
    call.console.result({ blocks }, () => blocks.map((block) => `${namedText(block)}: ${blockText(block, nowMs)}`));
    return EXIT.fine;
  },
};
