/** The rule that turns text into an id or refuses it. Users add their own by implementing it. */
export interface IdFormat {
  /** The format's name in messages and files: `ipAddress`, `accountId`, … */
  readonly name: string;
  /**
   * Gives the one spelling under which an id is known, so that no two spellings of it have a bucket each.
   *
   * @throws {SluiceError} `ERR_ID` when the text is no id of this format.
   */
  canonical(text: string): string;
}
