/** The style of the report beside that of all pages. In both schemes shapes have a contrast of at least 3 to 1 (WCAG 2.2, AA). */
export const STYLE = `
:root {
  --panel: #f6f8fa; --allowed: #4a8fd9; --between: #e3a008; --denied: #8f0a14; --curve: #0969da; --warning: #fff8c5;
}
@media (prefers-color-scheme: dark) {
  :root {
    --panel: #151b23; --allowed: #2f78c4; --between: #d9a520; --denied: #ffa198; --curve: #58a6ff; --warning: #3b2e0a;
  }
}
.partial { padding: 0.5rem 1rem; background: var(--warning); border: 1px solid var(--between); border-radius: 6px; }
code { font-family: ui-monospace, 'DejaVu Sans Mono', monospace; font-size: 0.9em; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: 0.75rem; margin: 1rem 0; }
.figures div { padding: 0.5rem 0.9rem; background: var(--panel); border: 1px solid var(--border); border-radius: 6px; }
.figures dt { color: var(--quiet); }
.figures dd { margin: 0; font-size: 1.2rem; font-weight: 600; }
.figures dd.quiet { font-size: 0.9rem; font-weight: 400; }
.denied { fill: var(--denied); }
.between { fill: var(--between); }
.allowed { fill: var(--allowed); }
.curve { fill: none; stroke: var(--curve); stroke-width: 2; vector-effect: non-scaling-stroke; }
.now, .knee, .suggested { stroke: var(--ink); stroke-width: 1.5; }
.knee { stroke-dasharray: 2 3; }
.suggested { stroke-dasharray: 8 4; }
.clients { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem 2rem; padding-left: 1.5rem; }
`;
