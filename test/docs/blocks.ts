import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { packageFolders } from '../../scripts/package-folders.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** One fenced `ts` block of a page. */
export interface Block {
  /** The page, from the root of the repository. */
  page: string;
  /** The page's line, counted from 1, on which the block's first line stands. */
  line: number;
  code: string;
}

/** README.md, the README of every package, and all of docs/. */
export function pages(): string[] {
  const packages = packageFolders(root).map((folder) => `${folder}/README.md`);
  const docs = existsSync(`${root}docs`) ? readdirSync(`${root}docs`, { recursive: true, encoding: 'utf8' }) : [];
  return [
    'README.md',
    ...packages,
    ...docs.filter((file) => file.endsWith('.md')).map((file) => `docs/${file}`),
  ].filter((page) => existsSync(root + page));
}

export function blocksOf(page: string): Block[] {
  const text = readFileSync(root + page, 'utf8');
  return [...text.matchAll(/^( *)```ts\b.*\n([\s\S]*?)^\1```/gm)].map((match) => ({
    page,
    line: text.slice(0, match.index).split('\n').length + 1,
    code: match[2] ?? '',
  }));
}
