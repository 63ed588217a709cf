// The search of the built site, as its pages make it: their index, the options of the site, and the minisearch of VitePress.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { search as options } from '../../site/.vitepress/search.mjs';
import { folder } from './built-site.ts';

/** Questions, each with the addresses of the sections that answer it best. */
type Questions = Readonly<Record<string, readonly string[]>>;

export const questions: { readonly new: Questions; readonly old: Questions } = JSON.parse(
  readFileSync(new URL('questions.json', import.meta.url), 'utf8'),
);

interface Index {
  search(question: string): { readonly id: string }[];
}

/** What VitePress sets where the site sets nothing. */
const OF_VITEPRESS = {
  fields: ['title', 'titles', 'text'],
  storeFields: ['title', 'titles'],
  searchOptions: { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 } },
};

/** Returns a function that gives the addresses that a question finds, best first. */
export async function builtSearch(): Promise<(question: string) => readonly string[]> {
  const chunks = `${folder}/assets/chunks`;
  const file = readdirSync(chunks).find((name) => name.startsWith('@localSearchIndexroot.'))!;
  const { default: json } = (await import(`${chunks}/${file}`)) as { default: string };
  const index = miniSearch().loadJSON(json, {
    ...OF_VITEPRESS,
    searchOptions: { ...OF_VITEPRESS.searchOptions, ...options.miniSearch?.searchOptions },
  });
  return (question) => index.search(question).map(({ id }) => id);
}

function miniSearch(): { loadJSON(json: string, options: object): Index } {
  const ofSite = createRequire(new URL('../../site/package.json', import.meta.url));
  return createRequire(ofSite.resolve('vitepress'))('minisearch');
}
