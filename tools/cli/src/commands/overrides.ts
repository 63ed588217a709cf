import type { Command } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { LIMIT_FILE_OPTIONS, LIMITS_WORD } from './words.ts';

/** `sluice overrides`: lists the overrides with an end. */
export const overrides: Command = {
  about: [
    'Lists the overrides that have an end (`until`), the first to end first, and those that have ended. They end by ',
    'themselves; sluice check warns of them 14 days before.',
  ].join(''),
  args: [LIMITS_WORD, { name: '<overrides>', text: 'the file of overrides' }],
  options: [
    { flags: '--ending <time>', text: 'only those that have ended or end within this time: 12h, 30d, 2w' },
    ...LIMIT_FILE_OPTIONS,
  ],
  example: 'sluice overrides examples/letsencrypt/limits.yaml examples/letsencrypt/overrides.yaml --ending 30d',
  async run(call) {
    const { endingsOf, endingText, endingWithinMs } = await import('../limits/endings.ts');
    const withinMs = endingWithinMs(call);
    const [limits = '', file = ''] = call.args;
    const found = await endingsOf({ limits, overrides: file }, call, withinMs);
    const endings = found.map(({ endMs, ...ending }) => ({ ...ending, ends: new Date(endMs).toISOString() }));
    call.console.result({ endings }, () => found.map((ending) => endingText(ending, call)));
    return EXIT.fine;
  },
};
