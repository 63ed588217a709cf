import type { Command } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { UsageError } from '../console/failure.ts';

const SHELLS = ['bash', 'zsh', 'fish'];

/** `sluice completion`: the script that completes words in a shell. */
export const completion: Command = {
  about: [
    'Prints a script that completes the commands and options of sluice in a shell. For bash and zsh, put ',
    'source <(sluice completion bash) into ~/.bashrc, or the same with zsh into ~/.zshrc after compinit. For fish: ',
    'sluice completion fish > ~/.config/fish/completions/sluice.fish.',
  ].join(''),
  args: [{ name: '<shell>', text: 'bash, zsh or fish', values: SHELLS }],
  options: [],
  example: 'sluice completion bash',
  async run({ args, console, commands }) {
    const [shell = ''] = args;
    const [{ completedCommands }, { SCRIPTS }] = await Promise.all([
      import('../completion/commands.ts'),
      import('../completion/scripts.ts'),
    ]);
    const write = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
    if (write === undefined)
      throw new UsageError(
        `The shell must be ${SHELLS.join(', ')}, but was '${shell}'. For example sluice completion bash.`,
      );
    const script = write(await completedCommands(commands));
    console.result({ script }, () => [script.trimEnd()]);
    return EXIT.fine;
  },
};
