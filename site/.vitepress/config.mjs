// The site has no texts of its own: its pages are the README files and docs/ of the repository, and the API reference that
// TypeDoc writes into site/api.
import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { indentedCode } from './indented-code.mjs';
import { repositoryLinks } from './links.mjs';
import { placeOf, root } from './pages.mjs';
import { search } from './search.mjs';
import { sidebar } from './sidebar.mjs';
import { slugOf } from './slug.mjs';
import { emptyCorners } from './tables.mjs';

/** Pages whose tables need the room of the outline. */
const WIDE = ['readme.md', 'docs/frameworks.md'];

export default defineConfig({
  title: 'Sluice',
  description: 'Rate limiting middleware for Node: Express, Koa, Fastify, NestJS, Hono and fetch',
  lang: 'en-US',
  srcDir: '..',
  srcExclude: [
    '{api,bench,test,scripts,coverage,tarballs}/**',
    '.*/**',
    '{packages,tools}/*/{CHANGELOG.md,test/**}',
    'site/README.md',
  ],
  rewrites: placeOf,
  transformPageData(page) {
    if (WIDE.includes(page.relativePath)) page.frontmatter['aside'] = false;
  },
  head: [['link', { rel: 'icon', href: '/icon.svg', type: 'image/svg+xml' }]],
  vite: { publicDir: join(root, 'site/public') },
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify: slugOf },
    config: (md) => void md.use(repositoryLinks).use(emptyCorners).use(indentedCode),
  },
  themeConfig: {
    logo: '/icon.svg',
    nav: [
      { text: 'Start', link: '/readme' },
      { text: 'Documentation', link: '/docs/' },
      { text: 'Playground', link: '/playground' },
      { text: 'API', link: '/api/' },
    ],
    sidebar: sidebar(),
    outline: [2, 3],
    notFound: {
      quote: 'The search, or the map of the documentation, leads to all pages.',
      linkText: 'The map',
      link: '/docs/',
    },
    search: { provider: 'local', options: search },
  },
});
