// `node scripts/draw-bucket.mjs` draws docs/bucket.svg, the picture of README.md: what a real limiter with the numbers of
// its first example decides about five requests.
import { writeFileSync } from 'node:fs';
import { builtCore } from './built-core.mjs';
import { drawPicture } from './drawing.mjs';
import { isProgram } from './is-program.mjs';

const LIMIT = { burst: 3, count: 1, period: '1s' };
const ENTRY = /** @type {const} */ ({ limit: 'default', id: '203.0.113.7' });

/** @typedef {{ label: string, allowed: boolean }} Answer */
/** @typedef {{ title: string, tokens: number, answers: Answer[] }} Frame */

/** @param {import('./built-core.mjs').Core} core @returns {Promise<Frame[]>} */
async function frames({ accountId, createLimiter, FakeTime }) {
  const time = new FakeTime();
  const limiter = createLimiter({ limits: { default: { key: accountId(), ...LIMIT } }, time });
  const tokens = async () => (await limiter.check([{ ...ENTRY, cost: 0 }])).remaining;
  const full = await tokens();
  const spend = () => limiter.spend([ENTRY]);
  const burst = [await spend(), await spend(), await spend()];
  const taken = await tokens();
  const denied = await spend();
  const stillTaken = await tokens();
  time.advance(denied.retryAfterMs);
  const back = await tokens();
  const next = await spend();
  return [
    { title: `full: burst ${LIMIT.burst}`, tokens: full, answers: [] },
    { title: 'three at once', tokens: taken, answers: burst.map(answer) },
    { title: 'one too many', tokens: stillTaken, answers: [answer(denied)] },
    { title: `${denied.retryAfterMs / 1000} s later`, tokens: back, answers: [answer(next)] },
  ];
}

/** @param {{ allowed: boolean, retryAfterMs: number }} decision @returns {Answer} */
function answer({ allowed, retryAfterMs }) {
  return { allowed, label: allowed ? '200' : `429, Retry-After: ${Math.ceil(retryAfterMs / 1000)}` };
}

const [FRAME, TOP, BOTTOM] = [220, 96, 216];

const RULES = [
  // Large enough to be read on a phone, where the picture is a third as wide.
  'text { font-size: 22px; }',
  '.bucket { fill: none; stroke-width: 3; stroke-linejoin: round; stroke-linecap: round; }',
  '.answer { font-weight: 600; }',
];

/** @param {import('./drawing.mjs').Colours} colours */
function coloured({ ground, ink, faint, line, yes, no }) {
  return [
    `.ground { fill: ${ground}; }`,
    `text { fill: ${ink}; }`,
    `.bucket { stroke: ${ink}; }`,
    `.empty { fill: ${faint}; }`,
    `.token { fill: ${line}; }`,
    `text.yes { fill: ${yes}; }`,
    `text.no { fill: ${no}; }`,
  ];
}

/** @param {Frame} frame @param {number} index */
function drawFrame({ title, tokens, answers }, index) {
  const middle = FRAME * index + FRAME / 2;
  const slots = Array.from({ length: LIMIT.burst }, (_, slot) => {
    const kind = slot < tokens ? 'token' : 'empty';
    return `<circle class="${kind}" cx="${middle}" cy="${BOTTOM - 22 - 36 * slot}" r="14"/>`;
  });
  const lines = answers.map(({ label, allowed }, line) => {
    const [kind, mark] = allowed ? ['yes', '✓'] : ['no', '✗'];
    return `<text class="middle answer ${kind}" x="${middle}" y="${TOP - 20 - 24 * line}">${mark} ${label}</text>`;
  });
  return [
    `<path class="bucket" d="M${middle - 52} ${TOP}L${middle - 36} ${BOTTOM}H${middle + 36}L${middle + 52} ${TOP}"/>`,
    ...slots,
    ...lines,
    `<text class="middle" x="${middle}" y="${BOTTOM + 36}">${title}</text>`,
  ];
}

/** @param {import('./built-core.mjs').Core} core */
export async function drawBucket(core) {
  const drawn = await frames(core);
  const text = {
    title: 'A bucket of three tokens, one of which comes back each second',
    description:
      'Three requests at once take all tokens, the fourth is denied, and a second later one is allowed again.',
  };
  return drawPicture(text, BOTTOM + 56, { rules: RULES, coloured, parts: drawn.flatMap(drawFrame) });
}

if (isProgram(import.meta.url)) {
  writeFileSync(new URL('../docs/bucket.svg', import.meta.url), await drawBucket(await builtCore()));
}
