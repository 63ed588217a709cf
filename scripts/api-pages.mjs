// Divides the pages of the API reference that are too long for a reader: each of their sections becomes a page.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** A page of so many characters is about fifty screens long. */
const LONG = 60_000;

/** A link of TypeDoc to a declaration, on its own page or on another. */
const LINK = /\]\(((?:[\w@./-]+\.md)?)#([\w.-]+)\)/g;

/** @typedef {{ readonly path: string, readonly from: string, readonly text: string }} Page where it is, and was written for */

/** @param {string} folder of the pages that TypeDoc has written */
export function divideLongPages(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'));
  const pages = files.flatMap((path) => {
    const text = readFileSync(join(folder, path), 'utf8');
    return text.length > LONG ? sectionsOf(path, text) : [{ path, from: path, text }];
  });
  const places = placesIn(pages);
  for (const { path, from, text } of pages) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    const linked = text.replaceAll(LINK, (_, target, id) => {
      const written = target === '' ? from : join(dirname(from), target);
      const page = places.get(`${written}#${id}`) ?? written;
      return `](${page === path ? '' : relative(dirname(path), page)}#${id})`;
    });
    writeFileSync(join(folder, path), linked);
  }
}

/** The page itself, with a list of what is on the others, and a page for each of its sections. */
function sectionsOf(/** @type {string} */ path, /** @type {string} */ text) {
  const [intro = '', ...sections] = text.split(/^## /m);
  const [, title = ''] = /^# (.+)$/m.exec(intro) ?? [];
  const folder = path.replace(/\.md$/, '');
  const made = sections.map((section) => {
    const [subject = ''] = section.split('\n', 1);
    const file = join(folder, `${subject.toLowerCase().replaceAll(' ', '-')}.md`);
    const body = section.slice(subject.length).replaceAll(/^##(#+ )/gm, '#$1');
    return {
      path: file,
      from: path,
      text: `# ${title}: ${subject}\n${body}`,
      list: listOf(path, file, subject, section),
    };
  });
  return [{ path, from: path, text: `${intro}${made.map(({ list }) => list).join('\n')}` }, ...made];
}

/** The names of a section, as links. */
function listOf(
  /** @type {string} */ path,
  /** @type {string} */ file,
  /** @type {string} */ subject,
  /** @type {string} */ section,
) {
  const names = [...section.matchAll(/^<a id="([^"]+)"><\/a>\n\n### (.+)$/gm)];
  const links = names.map(([, id, name]) => `[${name}](#${id})`);
  return `## [${subject}](${relative(dirname(path), file)})\n\n${links.join(',\n')}\n`;
}

/** On which page a declaration is, by the address that TypeDoc has given to it. @param {readonly Page[]} pages */
function placesIn(pages) {
  return new Map(
    pages.flatMap(({ path, from, text }) =>
      [...text.matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id]) => /** @type {const} */ ([`${from}#${id}`, path])),
    ),
  );
}
