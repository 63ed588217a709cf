/** Matches the path of a request: `/orders` exactly, `/orders/*` with all that is below. */
export class PathPattern {
  readonly text: string;
  readonly #prefix: string | undefined;

  /** @param text - Begins with `/`. A `*` may only be at the end. */
  constructor(text: string) {
    this.text = text;
    this.#prefix = text.endsWith('*') ? text.slice(0, -1) : undefined;
  }

  /** @param path - As {@link plainPath} returns it. */
  matches(path: string): boolean {
    return this.#prefix === undefined ? path === this.text : path.startsWith(this.#prefix);
  }
}

/**
 * Returns the path of a request target in the one spelling that patterns are compared with, so that a client can't avoid a
 * limit by another spelling: percent-encoded characters are decoded once, `//`, `.` and `..` are resolved.
 *
 * @param target - As in the request line: a path with or without a query, or a URL.
 */
export function plainPath(target: string): string {
  const [beforeQuery = ''] = target.split(/[?#]/, 1);
  const path = decoded(beforeQuery.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, ''));
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  const isFolder = /\/\.{0,2}$/.test(path) && segments.length > 0;
  return `/${segments.join('/')}${isFolder ? '/' : ''}`;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
