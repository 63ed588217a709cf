/**
 * A plugin of markdown-it: the empty corner of a table is a cell and not a header, which screen readers would announce.
 *
 * @param {import('vitepress').MarkdownRenderer} md
 */
export function emptyCorners(md) {
  md.core.ruler.push('empty-corners', ({ tokens }) => {
    for (const [i, token] of tokens.entries()) {
      const [inline, close] = [tokens[i + 1], tokens[i + 2]];
      if (token.type !== 'th_open' || inline?.content !== '' || close === undefined) continue;
      token.tag = 'td';
      close.tag = 'td';
    }
  });
}
