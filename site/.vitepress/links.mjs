// Links of the repository's pages, made to work on the site.
import { dirname, join, relative } from 'node:path';
import { addressOf, root } from './pages.mjs';

/**
 * A plugin of markdown-it. A link to a page becomes one to its place on the site. A link to another file of the repository,
 * such as a source file, becomes plain text, because the site does not have the file.
 *
 * @param {import('vitepress').MarkdownRenderer} md
 */
export function repositoryLinks(md) {
  md.core.ruler.push('repository-links', ({ tokens, env }) => {
    const page = env.realPath ?? env.path;
    // A title in the front matter is parsed alone, without its page. It has no links.
    if (page === undefined) return;
    const folder = dirname(relative(root, page));
    for (const { children } of tokens) rewriteLinks(children ?? [], folder);
  });
}

/** @typedef {ReturnType<import('vitepress').MarkdownRenderer['parse']>[number]} Token */

/**
 * @param {Token[]} tokens
 * @param {string} folder of the page
 */
function rewriteLinks(tokens, folder) {
  let isPlain = false;
  for (const token of tokens) {
    if (token.type === 'link_open') isPlain = !rewriteLink(token, folder);
    if (isPlain && token.type.startsWith('link_')) makePlain(token);
  }
}

/**
 * @param {Token} token
 * @param {string} folder
 * @returns {boolean} whether the link leads somewhere
 */
function rewriteLink(token, folder) {
  const href = token.attrGet('href') ?? '';
  if (/^([a-z]+:|#|\/)/.test(href)) return true;
  const [path = '', anchor] = href.split('#');
  const address = addressOf(join(folder, decodeURI(path)).replace(/\/$/, ''));
  if (address === undefined) return false;
  token.attrSet('href', anchor === undefined ? address : `${address}#${anchor}`);
  return true;
}

/** @param {Token} token */
function makePlain(token) {
  token.type = token.type.replace('link', 'plain');
  token.tag = 'span';
  token.attrs = null;
}
