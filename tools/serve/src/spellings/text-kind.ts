import { bytesOf, replacedText, withoutCase } from './bytes.ts';
import { canonicalHost, MAX_HOST } from './canonical-host.ts';
import { canonicalMethod, handledAs } from './canonical-method.ts';
import { canonicalPath, pathText } from './canonical-path.ts';
import { pathSpellings } from './path-spellings.ts';
import { compatible, decoded, withoutLastSlashes } from './path-steps.ts';
import { UNKNOWN, type Spellings } from './spellings.ts';

/** How texts of one kind are compared with the patterns of tables, and made to ids. Texts of requests are bytes. */
export interface TextKind {
  /** What begins that which follows a text; a pattern that has it is compared with both. */
  readonly restMark: string | undefined;
  /** Returns the spellings of a text of a request. */
  spellings(text: string): Spellings;
  /**
   * Returns the forms of a pattern, or of a part of one: always as many, the first as it is written. A spelling that is equal
   * to one of them matches.
   */
  forms(pattern: string, isPart: boolean): readonly [string, ...string[]];
  /** Returns what a spelling is equal to, in the order of their precedence. */
  equals(spelling: string): readonly string[];
  /** Returns the text by which ids are made. */
  canonical(text: string): string;
  /** Returns a spelling as the text of an id. */
  shown(spelling: string): string;
}

/** The kinds of texts by their names in tables. */
export type TextKindName = 'text' | 'path' | 'host' | 'method';

/** A text that has one spelling. */
export const TEXT: TextKind = {
  restMark: undefined,
  spellings: (text) => ({ texts: [text], areAll: true, rest: '' }),
  forms: (pattern) => [bytesOf(pattern)],
  equals: (spelling) => [spelling],
  canonical: replacedText,
  shown: replacedText,
};

/** The path of a request, or its whole target. */
const PATH: TextKind = {
  restMark: '?',
  spellings: pathSpellings,
  forms(pattern) {
    const written = bytesOf(pattern);
    const plain = decoded(written);
    return [written, plain, compatible(plain)];
  },
  equals(spelling) {
    const short = withoutLastSlashes(spelling);
    return short === spelling ? [spelling, `${spelling}/`] : [spelling, short];
  },
  canonical: (target) => pathText(canonicalPath(target)),
  shown: pathText,
};

/** The same for a backend that does not distinguish upper and lower case. */
const CASE_INSENSITIVE_PATH: TextKind = {
  ...PATH,
  spellings(target) {
    const { texts, areAll, rest } = pathSpellings(target);
    return { texts: [...new Set(texts.map(withoutCase))], areAll, rest };
  },
  forms(pattern, isPart) {
    const [written, ...others] = PATH.forms(pattern, isPart);
    return [withoutCase(written), ...others.map(withoutCase)];
  },
  canonical: (target) => pathText(withoutCase(canonicalPath(target))),
};

/** Returns the kind of the paths of a backend. */
export function pathKind(isCaseInsensitive: boolean): TextKind {
  return isCaseInsensitive ? CASE_INSENSITIVE_PATH : PATH;
}

/** The host of a request, with or without a port. */
export const HOST: TextKind = {
  ...TEXT,
  restMark: ':',
  spellings(text) {
    if (text.length > MAX_HOST) return UNKNOWN;
    const { host, port } = canonicalHost(replacedText(text)) ?? { host: withoutCase(text), port: '' };
    return { texts: [bytesOf(host)], areAll: true, rest: port };
  },
  forms(pattern, isPart) {
    const known = isPart ? undefined : canonicalHost(pattern);
    return [known === undefined ? withoutCase(bytesOf(pattern)) : bytesOf(known.host) + known.port];
  },
  canonical: (text) => canonicalHost(replacedText(text))?.host ?? replacedText(withoutCase(text)),
};

/** The method of a request. */
export const METHOD: TextKind = {
  ...TEXT,
  spellings: (text) => ({ texts: [text.toUpperCase()], areAll: true, rest: '' }),
  forms: (pattern) => [pattern.toUpperCase()],
  equals: (spelling) => [spelling, handledAs(spelling)],
  canonical: canonicalMethod,
};
