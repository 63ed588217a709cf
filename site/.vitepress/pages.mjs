// Which files of the repository are pages of the site, and where.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

const PAGES =
  /^(docs\/.+|site\/(api\/.+|playground|index)|(packages|tools|examples)\/[^/]+\/README|(deploy\/)?README|CONTRIBUTING|SECURITY)\.md$/;

/**
 * The place of a page on the site: README files are the index pages of their folders, but for that of the repository, whose
 * place has the landing page.
 *
 * @param {string} file from the root of the repository
 */
export function placeOf(file) {
  if (file === 'README.md') return 'readme.md';
  return file.replace(/^site\//, '').replace(/\/README\.md$/, '/index.md');
}

/**
 * The page that a link leads to.
 *
 * @param {string} target a file or a folder, from the root of the repository
 * @returns {string | undefined} its address on the site; undefined for a file that is not a page
 */
export function addressOf(target) {
  const candidates = [target, join(target, 'README.md')];
  const file = candidates.find((each) => PAGES.test(each) && existsSync(join(root, each)));
  return file === undefined ? undefined : `/${placeOf(file)}`;
}
