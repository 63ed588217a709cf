import { createHash } from 'node:crypto';

/** The style of the report. In both schemes text has a contrast of at least 4.5 to 1, and shapes have one of 3 to 1 (WCAG 2.2, AA). */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #ffffff; --panel: #f6f8fa; --ink: #1f2328; --quiet: #59636e; --border: #d1d9e0;
  --allowed: #4a8fd9; --between: #e3a008; --denied: #8f0a14; --curve: #0969da; --warning: #fff8c5;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0d1117; --panel: #151b23; --ink: #e6edf3; --quiet: #9ba5b0; --border: #3d444d;
    --allowed: #2f78c4; --between: #d9a520; --denied: #ffa198; --curve: #58a6ff; --warning: #3b2e0a;
  }
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
.partial { padding: 0.5rem 1rem; background: var(--warning); border: 1px solid var(--between); border-radius: 6px; }
code { font-family: ui-monospace, 'DejaVu Sans Mono', monospace; font-size: 0.9em; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: 0.75rem; margin: 1rem 0; }
.figures div { padding: 0.5rem 0.9rem; background: var(--panel); border: 1px solid var(--border); border-radius: 6px; }
.figures dt { color: var(--quiet); }
.figures dd { margin: 0; font-size: 1.2rem; font-weight: 600; }
.figures dd.quiet { font-size: 0.9rem; font-weight: 400; }
.scroll { overflow-x: auto; margin: 0.75rem 0; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { position: sticky; left: 0; max-width: calc(100vw - 2rem); text-align: left; padding: 0.25rem 0; font-weight: 600; }
th, td { padding: 0.35rem 0.9rem 0.35rem 0; border-bottom: 1px solid var(--border); text-align: left; vertical-align: top; }
.scroll th, .scroll td { overflow-wrap: break-word; }
.scroll td.long, .scroll th.long { min-width: 8rem; overflow-wrap: anywhere; }
th { font-weight: 600; }
th.number, td.number, th.part, td.part { text-align: right; }
td.part { white-space: nowrap; }
figcaption { margin-bottom: 0.5rem; }
.chart { display: block; width: calc(100% - 3.5rem); margin: 0.75rem 0 0.25rem 3.5rem; overflow: visible; }
.chart text { font-size: 12px; fill: var(--quiet); }
.grid { stroke: var(--border); }
.denied { fill: var(--denied); }
.between { fill: var(--between); }
.allowed { fill: var(--allowed); }
.curve { fill: none; stroke: var(--curve); stroke-width: 2; vector-effect: non-scaling-stroke; }
.now, .knee, .suggested { stroke: var(--ink); stroke-width: 1.5; }
.knee { stroke-dasharray: 2 3; }
.suggested { stroke-dasharray: 8 4; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 0 1.25rem; padding: 0; font-size: 0.9rem; }
.swatch { width: 24px; height: 12px; margin-right: 0.4rem; }
.clients { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem 2rem; padding-left: 1.5rem; }
:focus-visible { outline: 2px solid var(--curve); outline-offset: 2px; }
`;

/** The policy of the page: nothing is loaded, no script runs, and no style but its own applies. */
export const POLICY: string = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'`;
