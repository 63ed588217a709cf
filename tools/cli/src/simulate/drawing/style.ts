import * as pages from '../../pages/colours.ts';

/** The colours of a scheme: contrast of text at least 4.5 to 1. */
const LIGHT = {
  ...pages.LIGHT,
  lines: ['#0969da', '#cf222e', '#8250df', '#1a7f37', '#9a6700'],
};
const DARK: typeof LIGHT = {
  ...pages.DARK,
  lines: ['#58a6ff', '#ff7b72', '#d2a8ff', '#3fb950', '#d29922'],
};

/** Curves on top of each other can be told apart, even without colours. The curve of Sluice is below the others. */
const DASHES = [
  'stroke-width: 5;',
  'stroke-dasharray: 12 6;',
  'stroke-dasharray: 3 5;',
  'stroke-width: 2;',
  'stroke-dasharray: 8 4 2 4;',
];

/** How many curves have a colour of their own. */
export const COLOURS: number = LIGHT.lines.length;

/** The style of a picture. Without variables of CSS, which not every program that shows SVG supports. */
export const PICTURE_STYLE: string = `
text { font: 14px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; }
.title { font-weight: 600; }
.middle { text-anchor: middle; }
.end { text-anchor: end; }
path { fill: none; stroke-width: 2.5; }
.grid { stroke-width: 1; }
path.arrivals { stroke-width: 1.5; stroke-dasharray: 2 3; }
${dashes('path')}
${pictureColours(LIGHT)}
@media (prefers-color-scheme: dark) {
${pictureColours(DARK)}
}
`;

/** The style of the charts of a page beside that of all pages. */
export const CHART_STYLE: string = `
.chart svg { overflow: visible; }
.chart path { fill: none; vector-effect: non-scaling-stroke; }
.arrivals { stroke: var(--quiet); stroke-width: 1.5; stroke-dasharray: 2 3; }
${LIGHT.lines.map((_, i) => `.line${i} { stroke-width: 2.5; }`).join('\n')}
${dashes('')}
${lineColours('', LIGHT)}
@media (prefers-color-scheme: dark) {
${lineColours('', DARK)}
}
`;

function dashes(element: string): string {
  return DASHES.map((rules, i) => `${element}.line${i} { ${rules} }`).join('\n');
}

function lineColours(element: string, { lines }: typeof LIGHT): string {
  return lines.map((colour, i) => `${element}.line${i} { stroke: ${colour}; }`).join('\n');
}

function pictureColours(colours: typeof LIGHT): string {
  const { ground, ink, quiet, border, lines } = colours;
  return [
    `.ground { fill: ${ground}; }`,
    `text { fill: ${ink}; }`,
    `.grid { stroke: ${border}; }`,
    `path.arrivals { stroke: ${quiet}; }`,
    `text.quiet { fill: ${quiet}; }`,
    lineColours('path', colours),
    ...lines.map((colour, i) => `text.line${i} { fill: ${colour}; }`),
  ].join('\n');
}
