/**
 * A plugin of markdown-it: an indented example in a docstring is TypeScript, in which TypeDoc has escaped what a page
 * would take for its own.
 *
 * @param {import('vitepress').MarkdownRenderer} md
 */
export function docstringExamples(md) {
  md.core.ruler.push('docstring-examples', ({ tokens, env }) => {
    if (!env.path.includes('/site/api/')) return;
    for (const token of tokens.filter(({ type }) => type === 'code_block')) {
      token.type = 'fence';
      token.tag = 'code';
      token.info = 'ts';
      token.content = token.content.replaceAll(/\\([<>{}])/g, '$1');
    }
  });
}
