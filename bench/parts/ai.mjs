import { budget } from '@sluice/ai';
import { accountId, createLimiter } from '@sluice/core';
import { quota } from '@sluice/core/quota';
import { allocatedBytes, UNCOMPILED } from '../harness/allocated.mjs';
import { times, withSpread } from '../harness/table.mjs';

const key = accountId();
const id = '12345678';
const usage = { inputTokens: { total: 90, noCache: 90 }, outputTokens: { total: 7, text: 7 } };
/** What a middleware is told of a call: a prompt of 400 characters to a model that answers at once. */
const about = {
  params: {
    prompt: [{ role: 'user', content: [{ type: 'text', text: 'x'.repeat(400) }] }],
    maxOutputTokens: 50,
  },
  model: { specificationVersion: 'v3' },
};
const PARTS = 1000;

/** @typedef {() => Promise<unknown>} Work */

/** Each case: what works, and what it is compared with. A limit has room for all, so nothing is denied. */
const CASES = {
  'doGenerate, three limits': {
    unit: 1,
    works: { Sluice: () => generated(), 'no budget': () => doGenerate },
  },
  'a part of a stream': {
    unit: PARTS,
    works: { Sluice: () => streamed(true), 'no budget': () => streamed(false) },
  },
  'four limits around work': { unit: 1, works: { Sluice: () => runOfFour(), spend: () => spendOfFour() } },
};

/** @type {import('../harness/part.ts').Part} */
export const part = {
  title: 'ai: what a budget adds to calls of a model that answers at once, with the memory store',
  rounds: 5,
  turns: ({ quick }) => (quick ? 1 : 16),
  runs: ({ quick }) =>
    Object.entries(CASES).flatMap(([name, { unit, works }]) =>
      Object.keys(works).map((contender) => ({
        contender,
        case: name,
        nodeOptions: quick ? UNCOMPILED : [],
        settings: { calls: Math.ceil((quick ? 2000 : 50_000) / unit), quick },
      })),
    ),
  prepare: async ({ contender, case: name, settings = {} }) => {
    const { calls, quick } = /** @type {{ calls: number, quick: boolean }} */ (settings);
    const { unit, works } = caseNamed(name);
    const work = works[contender]?.();
    if (work === undefined) throw new Error(`No contender is named ${contender}.`);
    await repeated(work, calls);
    if (quick) return async () => ({ allocatedBytes: await allocatedBytes(() => repeated(work, calls), calls * unit) });
    return async () => {
      // The processors' caches are still those of the others.
      await repeated(work, Math.ceil(calls / 5));
      const before = process.cpuUsage();
      await repeated(work, calls);
      const { user, system } = process.cpuUsage(before);
      return { micros: (user + system) / (calls * unit) };
    };
  },
  counts: { cases: Object.keys(CASES), figures: { allocatedBytes: 0.1 } },
  tables: (results) => [tableOf(results)],
};

/**
 * @param {string} name
 * @returns {{ unit: number, works: Record<string, () => Work> }}
 */
function caseNamed(name) {
  return /** @type {Record<string, any>} */ (CASES)[name];
}

/**
 * @param {Work} work
 * @param {number} calls
 */
async function repeated(work, calls) {
  for (let i = 0; i < calls; i++) await work();
}

async function doGenerate() {
  return { usage };
}

function limiterOf() {
  const rate = { key, burst: 10_000_000, count: 10_000_000, period: '1s' };
  const month = quota({ key, count: 1_000_000_000, per: /** @type {const} */ ('month') });
  return createLimiter({ limits: { Requests: rate, Tokens: rate, Month: month, Others: rate }, log: false });
}

function middleware() {
  const limits = { Requests: 1, Tokens: /** @type {const} */ ('tokens'), Month: { input: 3, output: 15 } };
  return budget({ limiter: limiterOf(), id, limits });
}

/** @returns {Work} */
function generated() {
  const { wrapGenerate } = middleware();
  return () => wrapGenerate({ ...about, doGenerate });
}

/**
 * @param {boolean} isWatched
 * @returns {Work}
 */
function streamed(isWatched) {
  const { wrapStream } = middleware();
  const doStream = async () => ({ stream: streamOfParts() });
  return async () => {
    const { stream } = await (isWatched ? wrapStream({ ...about, doStream }) : doStream());
    const reader = stream.getReader();
    while (!(await reader.read()).done);
  };
}

function streamOfParts() {
  let sent = 0;
  return new ReadableStream(
    {
      pull(controller) {
        if (sent++ < PARTS) controller.enqueue({ type: 'text-delta', id: '1', delta: 'four' });
        else {
          controller.enqueue({ type: 'finish', usage });
          controller.close();
        }
      },
    },
    { highWaterMark: 0 },
  );
}

const four = ['Requests', 'Tokens', 'Month', 'Others'].map((limit) => ({ limit, id, cost: 2 }));

/** @returns {Work} */
function runOfFour() {
  const limiter = limiterOf();
  return () => limiter.run(/** @type {any} */ (four), doGenerate);
}

/** @returns {Work} */
function spendOfFour() {
  const limiter = limiterOf();
  return () => limiter.spend(/** @type {any} */ (four));
}

/** @param {import('../harness/results.mjs').Results} results */
function tableOf(results) {
  const micros = (/** @type {string} */ contender, /** @type {string} */ name) =>
    withSpread(results.figure(contender, name, 'micros'), (value) => value.toFixed(2));
  const row = (/** @type {keyof typeof CASES} */ name, /** @type {string} */ target) => {
    const [ours = '', other = ''] = Object.keys(CASES[name].works);
    const [most, least] = [ours, other].map((each) => results.figure(each, name, 'micros')?.median);
    const isCompared = most !== undefined && least !== undefined;
    return [
      name,
      `${ours}: ${micros(ours, name)}`,
      `${other}: ${micros(other, name)}`,
      isCompared ? `${(most - least).toFixed(2)} more, ${times(most / least)}` : '–',
      target,
    ];
  };
  return {
    title: 'Processor time, µs',
    rows: [
      ['', '', '', '', 'target'],
      row('doGenerate, three limits', '≤ 8 more'),
      row('a part of a stream', '≤ 1 more'),
      row('four limits around work', '≤ 1.30×'),
    ],
  };
}
