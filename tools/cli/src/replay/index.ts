/** What `sluice replay` and `sluice suggest` load when they run. */
export { reportLines } from './counting/report-lines.ts';
export { reportPage } from './html/page.ts';
export { replay } from './replay.ts';
export { suggestLines } from './suggesting/suggest-lines.ts';
export { suggest } from './suggesting/suggest.ts';
