/** The exit codes of all commands. */
export const EXIT = { fine: 0, findings: 1, failed: 2, interrupted: 130, unread: 141 } as const;

/** What each exit code means, for people. */
export const EXIT_CODES: readonly { readonly code: number; readonly meaning: string }[] = [
  { code: EXIT.fine, meaning: 'all is well' },
  {
    code: EXIT.findings,
    meaning:
      'there are findings, such as a mistake in a limits file, a log that ends too early, or a limit that applied to no request',
  },
  {
    code: EXIT.failed,
    meaning: 'the command was used wrongly, or could not be done: a file does not exist, Redis does not answer',
  },
  { code: EXIT.interrupted, meaning: 'Ctrl-C ended the command; what it has written is a part of the result' },
  { code: EXIT.unread, meaning: 'the program that reads the output has ended' },
];
