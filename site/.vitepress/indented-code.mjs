/**
 * A plugin of markdown-it for indented code. In a docstring it is TypeScript, in which TypeDoc has escaped what a page
 * would take for its own. Elsewhere it is a formula, which the keyboard can scroll.
 *
 * @param {import('vitepress').MarkdownRenderer} md
 */
export function indentedCode(md) {
  md.core.ruler.push('indented-code', ({ tokens, env }) => {
    for (const token of tokens.filter(({ type }) => type === 'code_block')) {
      if (env.realPath?.includes('/site/api/')) makeExample(token);
      else token.attrSet('tabindex', '0');
    }
  });
}

/** @param {ReturnType<import('vitepress').MarkdownRenderer['parse']>[number]} token */
function makeExample(token) {
  token.type = 'fence';
  token.info = 'ts';
  token.content = token.content.replaceAll(/\\([<>{}])/g, '$1');
}
