import DefaultTheme from 'vitepress/theme';
import NotFound from 'vitepress/dist/client/theme-default/NotFound.vue';
import { h } from 'vue';
// oxlint-disable-next-line import/no-unassigned-import -- a style sheet
import './style.css';

export default {
  extends: DefaultTheme,
  // VitePress gives the page for addresses that do not exist no landmark for its content.
  Layout: () => h(DefaultTheme.Layout, null, { 'not-found': () => h('main', h(NotFound)) }),
};
