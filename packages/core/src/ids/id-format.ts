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
  /**
   * Of formats whose ids are IP addresses or networks, in the spelling of RFC 5952: how many bits of an address an
   * id keeps, left out for a family that has no ids. An override may then name a wider network, such as
   * `10.20.0.0/16`, for all ids in it.
   */
  readonly prefixLengths?: { readonly ipv4?: number; readonly ipv6?: number };
}
