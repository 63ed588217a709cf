// `node bench/chart.mjs` draws bench/results/chart.svg, or the file that is named, from the results. The same results
// give the same file.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readResults, resultFile } from './harness/result-file.mjs';

const [chart = fileURLToPath(new URL('results/chart.svg', import.meta.url))] = process.argv.slice(2);
const CONTENDERS = ['Sluice', 'express-rate-limit', '@fastify/rate-limit', 'koa-ratelimit', 'rate-limiter-flexible'];

/** @typedef {{ title: string, part: string, case: string, figure: string }} Panel */

/** @type {Panel[]} */
const PANELS = [
  { title: 'One decision, always of one id, ns', part: 'memory', case: 'hot id, awaited', figure: 'nanoseconds' },
  { title: 'One decision among a million ids, ns', part: 'memory', case: '1M ids, awaited', figure: 'nanoseconds' },
  { title: 'Memory per id, bytes', part: 'bytes', case: 'account ids', figure: 'heapBytes' },
];

const WIDTH = 760;
const LABELS = 170;
const BAR = 18;
const ROW = 26;
const HEAD = 34;
const PANEL = HEAD + CONTENDERS.length * ROW + 14;
const LONGEST = WIDTH - LABELS - 80;

const STYLE = `
    text { font: 13px system-ui, sans-serif; fill: #1f2328; }
    .title { font-weight: 600; }
    .figure, .foot { fill: #59636e; }
    .foot { font-size: 11px; }
    .bar { fill: #afb8c1; }
    .ours { fill: #0969da; }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc; }
      .figure, .foot { fill: #9198a1; }
      .bar { fill: #59636e; }
      .ours { fill: #4493f8; }
    }
  `;

const height = PANELS.length * PANEL + 24;
const panels = PANELS.map((panel, index) => panelText(panel, index * PANEL));
const label = PANELS.map(({ title }) => title).join('; ');
writeFileSync(
  chart,
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${label}">
  <style>${STYLE}</style>
${panels.join('\n')}
  ${text(0, height - 6, 'foot', footText())}
</svg>
`,
);

/**
 * @param {Panel} panel
 * @param {number} top
 */
function panelText({ title, part, case: name, figure }, top) {
  const { results } = readResults(resultFile(part));
  const values = CONTENDERS.map((contender) => {
    const value = results.figure(contender, name, figure)?.median;
    if (value === undefined) throw new Error(`The results of ${part} have no ${contender}: measure all of it first.`);
    return value;
  });
  const most = Math.max(...values);
  const bars = CONTENDERS.map((contender, row) => {
    const value = values[row] ?? 0;
    const y = top + HEAD + row * ROW;
    const width = Math.max(1, Math.round((value / most) * LONGEST));
    const kind = contender === 'Sluice' ? 'bar ours' : 'bar';
    return [
      text(0, y + 14, 'name', contender),
      `<rect class="${kind}" x="${LABELS}" y="${y}" width="${width}" height="${BAR}" rx="2"/>`,
      text(LABELS + width + 8, y + 14, 'figure', Math.round(value).toLocaleString('en-GB')),
    ].join('\n  ');
  });
  return `  ${[text(0, top + 20, 'title', title), ...bars].join('\n  ')}`;
}

function footText() {
  const { date, machine } = readResults(resultFile('memory'));
  return `Shorter is better. ${date}, ${machine.processor}, ${machine.cores} cores, Node ${machine.node}.`;
}

/**
 * @param {number} x
 * @param {number} y
 * @param {string} kind
 * @param {string} content
 */
function text(x, y, kind, content) {
  return `<text class="${kind}" x="${x}" y="${y}">${content}</text>`;
}
