import * as pages from '../../pages/colours.ts';

/** The colours of a scheme: contrast of text at least 4.5 to 1. */
const LIGHT = { ...pages.LIGHT, lines: ['#0969da', '#cf222e', '#8250df', '#1a7f37', '#9a6700', '#bf3989'] };
const DARK: typeof LIGHT = {
  ...pages.DARK,
  lines: ['#58a6ff', '#ff7b72', '#d2a8ff', '#3fb950', '#d29922', '#f778ba'],
};

/** Curves on top of each other can be told apart, also without colours. That of Sluice is below the others. */
const DASHES = [
  'stroke-width: 5;',
  'stroke-dasharray: 12 6;',
  'stroke-dasharray: 3 5;',
  'stroke-width: 2;',
  'stroke-dasharray: 8 4 2 4;',
  'stroke-dasharray: 5 5;',
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
${DASHES.map((dashes, i) => `path.line${i} { ${dashes} }`).join('\n')}
${coloured(LIGHT)}
@media (prefers-color-scheme: dark) {
${coloured(DARK)}
}
`;

/** The style of a page beside that of all pages: that of the pictures on it. */
export const SIMULATION_STYLE: string = `
svg { display: block; width: 100%; min-width: 40rem; }
${PICTURE_STYLE}`;

function coloured({ ground, ink, quiet, border, lines }: typeof LIGHT): string {
  const curves = lines.map((colour, i) => `path.line${i} { stroke: ${colour}; }\ntext.line${i} { fill: ${colour}; }`);
  return [
    `.ground { fill: ${ground}; }`,
    `text { fill: ${ink}; }`,
    `.grid { stroke: ${border}; }`,
    `path.arrivals { stroke: ${quiet}; }`,
    `text.quiet { fill: ${quiet}; }`,
    ...curves,
  ].join('\n');
}
