import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Where the files of the site are. */
export const folder: string = `${root}site/.vitepress/dist`;

/** Types of the files of the site; all others are sent as bytes. */
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
};

/** The origin to which links of a page are relative. */
const ORIGIN = 'https://site.example';

/** What hosts of static files answer to an address that does not exist. */
const NOT_FOUND = '/404.html';

/** What no page leads to, and a file without the bars and the script of the pages. */
const NO_PAGES = [NOT_FOUND, '/replay-report.html'];

export interface BuiltSite extends AsyncDisposable {
  readonly url: string;
  /** The paths of all pages: `/docs/gcra.html`. */
  readonly pages: readonly string[];
  /** Whether it has a file, which need not be a page. */
  has(path: string): boolean;
  /** Returns the links and ids in the file of a page. */
  anchorsOf(path: string): Anchors;
}

/** The links of a page, and the ids to which links can lead. */
interface Anchors {
  /** Where its links to the site lead: path and fragment. */
  readonly links: readonly string[];
  readonly ids: ReadonlySet<string>;
}

/** Builds the site as `npm run site` does, and serves its files. */
export async function builtSite(): Promise<BuiltSite> {
  if (process.env['SKIP_BUILD'] === undefined)
    await promisify(execFile)(process.execPath, [`${root}scripts/site.mjs`], { cwd: root });
  const files = new Set(readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => `/${file}`));
  const server = createServer(({ url = '/' }, response) => {
    const path = decodeURI(new URL(url, 'http://localhost').pathname).replace(/\/$/, '/index.html');
    const file = files.has(path) ? path : NOT_FOUND;
    response.writeHead(file === path ? 200 : 404, {
      'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream',
    });
    response.end(readFileSync(folder + file));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pages: [...files].filter((file) => file.endsWith('.html') && !NO_PAGES.includes(file)).toSorted(),
    has: (path) => files.has(path),
    anchorsOf,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function anchorsOf(path: string): Anchors {
  const html = readFileSync(folder + path, 'utf8');
  const valuesOf = (attribute: RegExp): string[] =>
    Array.from(html.matchAll(attribute), ([, value = '']) => value.replaceAll('&amp;', '&'));
  const targets = valuesOf(/<a\b[^>]*\shref="([^"]*)"/g).map((href) => new URL(href, ORIGIN + path));
  const links = targets.filter(({ origin }) => origin === ORIGIN).map(({ pathname, hash }) => pathname + hash);
  return { links, ids: new Set(valuesOf(/\sid="([^"]*)"/g)) };
}
