/**
 * The most characters of a list of limits in one header field. Proxies read at most 4 or 8 kB of the head of a response,
 * and answer 502 in place of a longer one.
 */
export const MOST_IN_FIELD = 1000;

/** The order in which members are kept, and what they need. */
export interface Fit<T> {
  /** The most characters of each list. */
  readonly most: number;
  /** Members with a lower rank are kept before others, and come first. */
  readonly rankOf: (member: T) => number;
  /** What a member adds to each list; '' for nothing. */
  readonly textsOf: (member: T) => readonly string[];
}

/** Returns all members as they are, if they fit into their lists; otherwise as many whole ones as fit, by rank. */
export function fitting<T>(members: readonly T[], fit: Fit<T>): readonly T[] {
  const all = firstThatFit(members, fit);
  if (all.length === members.length) return members;
  return firstThatFit(
    members.toSorted((one, other) => fit.rankOf(one) - fit.rankOf(other)),
    fit,
  );
}

function firstThatFit<T>(members: readonly T[], { most, textsOf }: Fit<T>): readonly T[] {
  let used: readonly number[] = [];
  return members.filter((member) => {
    const lengths = textsOf(member).map((text, i) => (used[i] ?? 0) + (text === '' ? 0 : text.length + ', '.length));
    const fits = lengths.every((length) => length <= most + ', '.length);
    if (fits) used = lengths;
    return fits;
  });
}
