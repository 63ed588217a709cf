// The sidebar is the map of docs/README.md: a group for each heading, with the links of its section.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addressOf, root } from './pages.mjs';

const MAP = 'docs/README.md';

/** @returns {import('vitepress').DefaultTheme.SidebarItem[]} */
export function sidebar() {
  const [, ...sections] = readFileSync(join(root, MAP), 'utf8').split(/^## /m);
  return sections.map((section) => {
    const [text = ''] = section.split('\n', 1);
    return { text, items: linksOf(section) };
  });
}

/** The first link of each row of a table, or of a list. @param {string} section */
function linksOf(section) {
  return [...section.matchAll(/^(?:\||-) *\[([^\]]+)\]\(([^)]+)\)/gm)].map(([, text = '', target = '']) => ({
    text: text.replaceAll('`', ''),
    link: addressOf(join('docs', target)) ?? missing(target),
  }));
}

/**
 * @param {string} target
 * @returns {never}
 */
function missing(target) {
  throw new Error(`${MAP} links to ${target}, which is not a page.`);
}
