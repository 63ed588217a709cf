/** All texts that a server may make of one text of a request. */
export interface Spellings {
  /** The first is the text as it was sent. */
  readonly texts: readonly string[];
  /** Whether these are all. If not, a limit applies, and an exemption does not. */
  readonly areAll: boolean;
  /** What follows the text and is not a part of it: the query of a path with its `?`, the port of a host with its `:`. */
  readonly rest: string;
}

/** Nothing is known of a text: a limit applies, and an exemption does not. */
export const UNKNOWN: Spellings = { texts: [], areAll: false, rest: '' };

/** A text that may be under more rules than this, because not all of its spellings are known, is denied: it is hostile. */
export const MAX_RULES = 64;
