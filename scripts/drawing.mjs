// Shared by the scripts that draw pictures: files with colours for light and dark pages, and charts over time.
import { mkdirSync, writeFileSync } from 'node:fs';

const LIGHT = {
  ground: '#ffffff',
  ink: '#1f2328',
  faint: '#d1d9e0',
  area: '#ddf4ff',
  line: '#0969da',
  yes: '#1a7f37',
  no: '#cf222e',
};
/** @typedef {typeof LIGHT} Colours */
const DARK = {
  ground: '#0d1117',
  ink: '#e6edf3',
  faint: '#30363d',
  area: '#12283f',
  line: '#58a6ff',
  yes: '#3fb950',
  no: '#ff7b72',
};

/**
 * The CSS rules of both colour schemes. Without CSS variables: not every program that shows SVG supports them.
 *
 * @param {(colours: Colours) => string[]} rules
 */
function inBothSchemes(rules) {
  const indented = (/** @type {Colours} */ colours, /** @type {string} */ indent) =>
    rules(colours)
      .map((rule) => indent + rule)
      .join('\n');
  return `${indented(LIGHT, '    ')}
    @media (prefers-color-scheme: dark) {
${indented(DARK, '      ')}
    }`;
}

/** @param {number} pixels */
export function round(pixels) {
  return Math.round(pixels * 10) / 10;
}

/**
 * @typedef {{ atMs: number, value: number }} Point
 * @typedef {'yes' | 'no' | 'other'} Mark
 * @typedef {{ label: string, marks: readonly { atMs: number, mark: Mark }[] }} Row
 * @typedef {{ label: string, value: number }} Bound
 * @typedef {{
 *   title: string, description: string,
 *   time: { endMs: number, everyMs: number, unit: { name: string, ms: number } },
 *   scale: { label: string, lowest: number, highest: number, every: number },
 *   lines: readonly { label: string, points: readonly Point[], colour: 'line' | 'yes' | 'no' }[],
 *   rows: readonly Row[], bounds: readonly Bound[],
 * }} Chart
 */

const WIDTH = 880;
const [LEFT, RIGHT, TOP, HEIGHT, ROW] = [150, 850, 34, 200, 26];

const CHART_RULES = [
  'path { fill: none; stroke-width: 2; }',
  '.grid { stroke-width: 1; }',
  '.bound { stroke-width: 1.5; }',
  '.curve { stroke-width: 2.5; }',
];

/** @param {Colours} colours */
function chartColours({ ground, ink, faint, line, yes, no }) {
  return [
    `.ground { fill: ${ground}; }`,
    `text { fill: ${ink}; }`,
    `.grid { stroke: ${faint}; }`,
    `.bound { stroke: ${ink}; }`,
    `.line, .other { stroke: ${line}; }`,
    `.yes { stroke: ${yes}; }`,
    `.no { stroke: ${no}; }`,
    `text.line, text.other { fill: ${line}; }`,
    `text.yes { fill: ${yes}; }`,
    `text.no { fill: ${no}; }`,
  ];
}

/**
 * A chart over time: rows of marks for requests, and lines below them.
 *
 * @param {Chart} chart
 */
export function drawChart(chart) {
  const top = TOP + ROW * chart.rows.length + 20;
  const bottom = top + HEIGHT;
  const x = (/** @type {number} */ ms) => round(LEFT + ((RIGHT - LEFT) * ms) / chart.time.endMs);
  const y = (/** @type {number} */ value) =>
    round(bottom - ((bottom - top) * (value - chart.scale.lowest)) / (chart.scale.highest - chart.scale.lowest));
  const parts = [
    ...legend(chart),
    ...axes(chart, { x, y, top, bottom }),
    ...chart.rows.flatMap((row, index) => drawnRow(row, TOP + ROW * (index + 1) - 8, x)),
    ...chart.bounds.map(
      ({ value }) => `<path class="bound" stroke-dasharray="7 4" d="M${LEFT} ${y(value)}H${RIGHT}"/>`,
    ),
    ...chart.lines.map(({ points, colour }) => {
      const path = points.map(({ atMs, value }) => `${x(atMs)} ${y(value)}`).join('L');
      return `<path class="curve ${colour}" d="M${path}"/>`;
    }),
  ];
  return drawPicture(chart, bottom + 56, { rules: CHART_RULES, coloured: chartColours, parts });
}

/**
 * A picture as a file: a title and a description for those who can't see it, and styles for both colour schemes.
 *
 * @param {{ title: string, description: string }} text
 * @param {number} height
 * @param {{ rules: readonly string[], coloured: (colours: Colours) => string[], parts: readonly string[] }} content
 */
export function drawPicture({ title, description }, height, { rules, coloured, parts }) {
  // Texts lie above lines and have a margin in the colour of the ground, so that no line crosses them.
  const texts = parts.filter((part) => part.startsWith('<text'));
  const drawn = [...parts.filter((part) => !part.startsWith('<text')), ...texts];
  const allColours = (/** @type {Colours} */ colours) => [
    ...coloured(colours),
    `text, text[class] { stroke: ${colours.ground}; }`,
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title desc">
  <title id="title">${title}</title>
  <desc id="desc">${description}</desc>
  <style>
    text { font: 14px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; }
    text { paint-order: stroke; stroke-width: 5px; stroke-linejoin: round; }
    .middle { text-anchor: middle; }
    .end { text-anchor: end; }
${rules.map((rule) => `    ${rule}`).join('\n')}
${inBothSchemes(allColours)}
  </style>
  <rect class="ground" width="${WIDTH}" height="${height}"/>
${drawn.map((part) => `  ${part}`).join('\n')}
</svg>
`;
}

/** @param {Chart} chart */
function legend({ lines }) {
  return lines.map(({ label, colour }, index) => {
    return `<text class="${colour}" x="${LEFT + 230 * index}" y="20">${label}</text>`;
  });
}

/**
 * @param {Chart} chart
 * @param {{ x: (ms: number) => number, y: (value: number) => number, top: number, bottom: number }} plot
 */
function axes(chart, { x, y, top, bottom }) {
  const parts = [];
  for (let ms = 0; ms <= chart.time.endMs; ms += chart.time.everyMs) {
    parts.push(`<path class="grid" d="M${x(ms)} ${TOP}V${bottom}"/>`);
    parts.push(`<text class="middle" x="${x(ms)}" y="${bottom + 20}">${round(ms / chart.time.unit.ms)}</text>`);
  }
  for (let value = chart.scale.lowest; value <= chart.scale.highest; value += chart.scale.every) {
    parts.push(`<text class="end" x="${LEFT - 10}" y="${y(value) + 5}">${value}</text>`);
  }
  for (const { label, value } of chart.bounds) {
    parts.push(`<text x="${LEFT + 6}" y="${y(value) - 7}">${label}</text>`);
  }
  parts.push(
    `<text class="middle" x="${(LEFT + RIGHT) / 2}" y="${bottom + 42}">${chart.time.unit.name}</text>`,
    `<text x="10" y="${top + 5}">${chart.scale.label}</text>`,
    `<path class="bound" d="M${LEFT} ${y(Math.max(0, chart.scale.lowest))}H${RIGHT}"/>`,
  );
  return parts;
}

/**
 * @param {Row} row
 * @param {number} baseline
 * @param {(ms: number) => number} x
 */
function drawnRow({ label, marks }, baseline, x) {
  const drawn = marks.map(({ atMs, mark }) => {
    const at = x(atMs);
    if (mark === 'no') return `<path class="no" d="M${round(at - 4)} ${baseline - 9}l8 8m0 -8l-8 8"/>`;
    return `<path class="${mark}" d="M${at} ${baseline}v-11"/>`;
  });
  return [`<text class="end" x="${LEFT - 10}" y="${baseline}">${label}</text>`, ...drawn];
}

/** Writes pictures, by name, into a folder. @param {URL} folder @param {Record<string, string>} pictures */
export function writePictures(folder, pictures) {
  mkdirSync(folder, { recursive: true });
  for (const [name, picture] of Object.entries(pictures)) writeFileSync(new URL(name, folder), picture);
}
