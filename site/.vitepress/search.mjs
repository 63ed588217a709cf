// How the search of the site ranks what it finds. VitePress sends these functions to the browser as text: each of them uses
// its parameters alone.

/** @type {import('vitepress').DefaultTheme.LocalSearchOptions} */
export const search = {
  miniSearch: {
    searchOptions: {
      boost: { title: 4, titles: 1, text: 1 },

      /** Guides come first. The reference has every word in many short sections, and records explain what guides teach. */
      boostDocument(id) {
        if (id.startsWith('/api/')) return 0.2;
        if (/^\/docs\/(#|decisions\/|proofs|measured\/|architecture)/.test(id)) return 0.4;
        if (/^\/(CONTRIBUTING|docs\/(errors|coming-from))/.test(id)) return 0.4;
        return /^\/(readme|packages|tools|examples)/.test(id) ? 0.7 : 1;
      },

      /** Leaves out words that each page has, and the plural, because a term also finds the words that begin with it. */
      processTerm(term) {
        const word = term.toLowerCase();
        const isCommon =
          /^(a|an|and|are|by|can|do|does|for|from|how|i|if|in|is|it|me|my|of|on|or|the|to|vs|versus|what|when|which|why|with|you)$/;
        return isCommon.test(word) ? null : word.replace(/(?<=[^s]{4})s$/, '');
      },

      /** A short word with another letter is another word: IPv4 and IPv6. */
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),

      prefix: (term) => term.length > 2,

      /** Sections with all words come first, then those with all but one. A word that is only similar counts less. */
      filter(result) {
        const found = result.queryTerms.filter((word) => result.terms.some((term) => term.startsWith(word)));
        result.score *= 100 ** found.length;
        return true;
      },
    },
  },
};
