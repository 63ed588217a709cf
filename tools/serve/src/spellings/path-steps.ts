// The room spellings: what a backend may make of a path, a host or a method, and their one spelling for ids.
import { bytesOf, replacedText, textOf, withoutEnd } from './bytes.ts';

/** One thing that a server may do to a path before it looks for a route. Returns the path itself if there is nothing to do. */
export type PathStep = (path: string) => string;

/** Decodes `%41` and so on, once. What is not a valid escape stays, as does a byte that is not UTF-8. */
export function decoded(path: string): string {
  return path.replaceAll(/%([0-9a-f]{2})/gi, (_, digits: string) => byteOf(digits));
}

/** Routers split a path at its slashes first, and decode the segments: an encoded slash does not split. */
function decodedInSegments(path: string): string {
  return path.replaceAll(/%(?!2f|5c)([0-9a-f]{2})/gi, (_, digits: string) => byteOf(digits));
}

/** IIS keeps an encoded slash, and not an encoded backslash. */
function decodedBackslashes(path: string): string {
  return path.replaceAll(/%5c/gi, '\\');
}

/** `%u002f` is an escape of IIS and of old JavaScript. */
function decodedUnicode(path: string): string {
  return path.replaceAll(/%u([0-9a-f]{4})/gi, (_, digits: string) =>
    bytesOf(String.fromCharCode(Number.parseInt(digits, 16))),
  );
}

function byteOf(digits: string): string {
  return String.fromCharCode(Number.parseInt(digits, 16));
}

/** Decoders that are not strict read more bytes than a character needs: C0 AF is a slash. The second byte may be any. */
function readOverlong(path: string): string {
  return path
    .replaceAll(/[\xc0\xc1]([^])/g, (pair) => overlongOf(pair))
    .replaceAll(/\xe0[\x80-\x9f][\x80-\xbf]|\xf0[\x80-\x8f][\x80-\xbf]{2}|\xf8[\x80-\x83][\x80-\xbf]{3}/g, overlongOf);
}

function overlongOf(sequence: string): string {
  let code = sequence.charCodeAt(0) & (0x7f >> sequence.length);
  for (let i = 1; i < sequence.length; i++) code = (code << 6) | (sequence.charCodeAt(i) & 0x3f);
  return bytesOf(String.fromCodePoint(code));
}

/** Some decoders leave out what is not UTF-8. Others put U+FFFD there, as ours does for Envoy's texts. */
function withoutInvalid(path: string): string {
  return bytesOf(replacedText(path).replaceAll('\ufffd', ''));
}

/** Some end there, or put a `?` there. */
function upToInvalid(path: string): string {
  const text = replacedText(path);
  return text.includes('\ufffd') ? bytesOf(upTo(text, '\ufffd')) : path;
}

/** Some read it as Latin-1 then. */
function latin1ToUtf8(path: string): string {
  return textOf(path) === undefined ? path.replaceAll(/[\x80-\xff]/g, (byte) => bytesOf(byte)) : path;
}

/** Some compare texts by compatibility: a full-width `／` is a slash, and é is one character or two. */
export function compatible(path: string): string {
  const text = textOf(path);
  if (text === undefined || text.length === path.length) return path;
  const parts = text.match(SORTED_APART)!;
  return bytesOf(parts.map((part) => part.normalize('NFKC')).join(''));
}

/**
 * A text up to the end of its first marks. No character is combined with one behind a mark. To sort marks takes quadratic
 * time, so at most 30 are sorted together: no language has more (UAX #15, section 13). Two letters are made to marks.
 */
const SORTED_APART = /[^\p{M}\uff9e\uff9f]*[\p{M}\uff9e\uff9f]{0,30}/gu;

export function withForwardSlashes(path: string): string {
  return path.replaceAll('\\', '/');
}

/** Java servers cut the parameters of each segment, before they resolve dots: `/a/..;x/b` is `/b`. */
export function withoutParameters(path: string): string {
  return path.replaceAll(/;[^/]*/g, '');
}

/** For some servers a `;` begins the query. */
function upToSemicolon(path: string): string {
  return upTo(path, ';');
}

/** A server behind one that has decoded the path sees a query where there was `%3F`. */
export function upToQuery(path: string): string {
  return upTo(path, '?');
}

export function upToFragment(path: string): string {
  return upTo(path, '#');
}

export function upToNul(path: string): string {
  return upTo(path, '\0');
}

export function withoutControls(path: string): string {
  return path.replaceAll(/\p{Cc}/gu, (control) => (control < '\x80' ? '' : control));
}

export function withMergedSlashes(path: string): string {
  return path.replaceAll(/\/{2,}/g, '/');
}

/** Resolves `.` and `..` as RFC 3986 section 5.2.4 does. An empty segment is one. */
export function withResolvedDots(path: string): string {
  if (!/(?:^|\/)\.\.?(?:\/|$)/.test(path)) return path;
  const all = path.split('/');
  const kept: string[] = [];
  for (const segment of all) {
    if (segment === '..') kept.splice(Math.max(1, kept.length - 1));
    else if (segment !== '.') kept.push(segment);
  }
  if (/^\.\.?$/.test(all.at(-1)!)) kept.push('');
  return kept.join('/') || '/';
}

/** Windows ignores dots and spaces at the end of a name, and others the spaces around it. */
export function withTrimmedSegments(path: string): string {
  return /[. ]/.test(path) ? path.replaceAll(/[^/]+/g, trimmed) : path;
}

function trimmed(segment: string): string {
  const name = withoutEnd(segment.replace(/^ +/, ''), ' ');
  return /^\.+$/.test(name) ? name : withoutEnd(name, '. ');
}

export function withoutLastSlashes(path: string): string {
  return path.length > 1 && path.endsWith('/') ? withoutEnd(path, '/') || '/' : path;
}

/** A request target may be a whole URL (RFC 9112 section 3.2.2). */
function withoutScheme(path: string): string {
  return path.replace(/^[a-z][a-z0-9+.-]*:/i, '');
}

/** `new URL('//x/a', base)` has the host x and the path /a. */
function withoutAuthority(path: string): string {
  return path.replace(/^[/\\]{2,}[^/\\]*/, '') || '/';
}

function withFirstSlash(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}

function upTo(path: string, end: string): string {
  const at = path.indexOf(end);
  return at === -1 ? path : path.slice(0, at) || '/';
}

/** All steps. A server may take any of them, in any order, and more than once. */
export const PATH_STEPS: readonly PathStep[] = [
  decoded,
  decodedInSegments,
  decodedBackslashes,
  decodedUnicode,
  readOverlong,
  withoutInvalid,
  upToInvalid,
  latin1ToUtf8,
  compatible,
  withForwardSlashes,
  withoutParameters,
  upToSemicolon,
  upToQuery,
  upToFragment,
  upToNul,
  withoutControls,
  withMergedSlashes,
  withResolvedDots,
  withTrimmedSegments,
  withoutLastSlashes,
  withoutScheme,
  withoutAuthority,
  withFirstSlash,
];
