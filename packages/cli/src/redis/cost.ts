import type { Call, Option } from '../console/command.ts';

/** The option of commands that take a number of tokens. */
export const COST_OPTION: Option = { flags: '--cost <tokens>', text: 'the number of tokens; default: 1' };

/** Returns the number of tokens of the command line. */
export function costOf(call: Call): number {
  return call.wholeNumber('cost', { min: 1, max: 1_000_000_000, unset: 1 });
}
