import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolders } from './package-folders.mjs';

/**
 * Writes the URL of the repository into the package.json of each package.
 *
 * @param {string} folder the clone
 * @param {string} url such as https://github.com/owner/name
 */
export function writeRepository(folder, url) {
  if (!/^https:\/\/[^/\s]+(\/[^/\s]+){2,}$/.test(url)) {
    throw new Error(
      `The URL of the repository must be like https://github.com/OWNER/NAME, but was ${JSON.stringify(url)}. Write the page that a ` +
        'browser shows, without a slash at the end.',
    );
  }
  const plain = url.replace(/\.git$/, '');
  for (const each of packageFolders(folder)) {
    const file = join(folder, each, 'package.json');
    const {
      homepage: _homepage,
      bugs: _bugs,
      repository: _repository,
      ...manifest
    } = JSON.parse(readFileSync(file, 'utf8'));
    const links = {
      homepage: `${plain}#readme`,
      bugs: `${plain}/issues`,
      repository: { type: 'git', url: `git+${plain}.git`, directory: each },
    };
    const entries = Object.entries(manifest).flatMap(([key, value]) =>
      key === 'license' ? [[key, value], ...Object.entries(links)] : [[key, value]],
    );
    writeFileSync(file, `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`);
  }
}
