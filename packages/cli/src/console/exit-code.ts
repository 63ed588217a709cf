/** The exit codes of all commands. */
export const EXIT = {
  /** The command did what it was asked to do. */
  fine: 0,
  /** The command found something wrong, such as a mistake in a limits file, or a log that ends too early. */
  findings: 1,
  /** The command was used wrongly, or could not be done: Redis does not answer, a disk is full. */
  failed: 2,
  /** Ctrl-C ended the command. What it has written is a part of the result, and marked as such. */
  interrupted: 130,
} as const;
