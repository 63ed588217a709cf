import { DARK, LIGHT, type Colours } from './colours.ts';

/** The style that all pages have: text, tables, charts, and the colours of both schemes as variables. */
export const PAGE_STYLE: string = `
:root { color-scheme: light dark; ${variables(LIGHT)} --focus: #0969da; }
@media (prefers-color-scheme: dark) {
  :root { ${variables(DARK)} --focus: #58a6ff; }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 72rem; padding: 1rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; overflow-wrap: anywhere;
}
h1, h2, h3 { line-height: 1.25; }
h1 { font-size: 1.6rem; margin: 0.5rem 0; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 0.75rem; padding-top: 0.75rem; border-top: 1px solid var(--border); }
h3 { font-size: 1.05rem; margin: 1.75rem 0 0.25rem; }
p, ul, ol, figure { margin: 0.5rem 0; }
.quiet { color: var(--quiet); }
.scroll { overflow-x: auto; margin: 0.75rem 0; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { position: sticky; left: 0; max-width: calc(100vw - 2rem); text-align: left; padding: 0.25rem 0; font-weight: 600; }
th, td { padding: 0.35rem 0.9rem 0.35rem 0; border-bottom: 1px solid var(--border); text-align: left; vertical-align: top; }
th { font-weight: 600; }
.scroll th, .scroll td { overflow-wrap: break-word; }
.scroll td.long, .scroll th.long { min-width: 8rem; overflow-wrap: anywhere; }
th.number, td.number, th.part, td.part { text-align: right; }
td.part { white-space: nowrap; }
figcaption { margin-bottom: 0.5rem; }
.chart { display: block; width: calc(100% - 3.5rem); margin: 0.75rem 0 0.25rem 3.5rem; overflow: visible; }
.chart text { font-size: 12px; fill: var(--quiet); }
.grid { stroke: var(--border); }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 0 1.25rem; padding: 0; font-size: 0.9rem; }
.swatch { width: 24px; height: 12px; margin-right: 0.4rem; }
@media (max-width: 30rem) {
  table { font-size: 0.875rem; }
  th, td { padding-right: 0.5rem; }
}
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
`;

function variables({ ground, ink, quiet, border }: Colours): string {
  return `--ground: ${ground}; --ink: ${ink}; --quiet: ${quiet}; --border: ${border};`;
}
