import { once } from 'node:events';
import { frameworkNamed, FRAMEWORKS } from '../http/frameworks.mjs';
import { Load } from '../http/load.mjs';
import { coresCanBeChosen, forked } from '../harness/processes.mjs';
import { tenths, times, whole, withSpread } from '../harness/table.mjs';

const CONNECTIONS = 64;
const OUTCOMES = ['allowed', 'denied'];
const STATUS = { allowed: 200, denied: 429 };
/** What share of a turn comes before the part of it that is measured. */
const LEAD_IN = 0.2;
const CORE = { server: 0, load: 1 };
const NONE = 'no limiter';
const TEN_LINES = 'ten-line GCRA';
const MOST_ABOVE_TEN_LINES_MICROS = 1.5;

const limitersOf = new Map(
  await Promise.all(
    FRAMEWORKS.map(async (name) => /** @type {const} */ ([name, (await frameworkNamed(name)).limiters])),
  ),
);

/** @type {import('../harness/part.ts').Part} */
export const part = {
  title: `http: hello world with and without a limiter, ${CONNECTIONS} connections`,
  // The same server is slower in one process than in another: it takes many.
  rounds: 9,
  turns: ({ quick }) => (quick ? 1 : 16),
  runs: ({ quick }) => FRAMEWORKS.flatMap((name) => OUTCOMES.flatMap((outcome) => runsOf(name, outcome, quick))),
  prepare,
  counts: {
    cases: FRAMEWORKS.flatMap((name) => OUTCOMES.map((outcome) => `${name}, ${outcome}`)),
    // A wait of one digit more is written several times.
    figures: { responseBytes: 0.03 },
  },
  tables: (results) => FRAMEWORKS.flatMap((name) => OUTCOMES.map((outcome) => tableOf(results, name, outcome))),
};

/**
 * @param {string} framework
 * @param {string} outcome
 * @param {boolean} quick
 */
function runsOf(framework, outcome, quick) {
  const settings = { framework, outcome, warmUpResponses: quick ? 200 : 10_000, turnMs: 50 };
  return (limitersOf.get(framework) ?? []).map((contender) => ({
    contender,
    case: `${framework}, ${outcome}`,
    core: CORE.load,
    settings,
  }));
}

/**
 * @param {import('../harness/part.ts').Run} run
 * @returns {Promise<import('../harness/part.ts').Measure>}
 */
async function prepare({ contender, settings = {} }) {
  const { framework, outcome, warmUpResponses, turnMs } =
    /** @type {{ framework: string, outcome: 'allowed' | 'denied', warmUpResponses: number, turnMs: number }} */ (
      settings
    );
  const server = forked(new URL('../http/serve.mjs', import.meta.url), [framework, contender, outcome], {
    core: CORE.server,
  });
  server.stderr?.pipe(process.stderr);
  const [port] = /** @type {[number]} */ (await once(server, 'message'));
  const load = new Load({ port, connections: CONNECTIONS, status: contender === NONE ? 200 : STATUS[outcome] });
  // oxlint-disable-next-line no-await-in-loop
  while (load.responses < warmUpResponses) await load.during(turnMs);
  const denials = load.other;
  return async () => {
    // The processors' caches are still those of the others.
    await load.during(turnMs * LEAD_IN);
    const figures = await measured(server, load, turnMs);
    if (load.other > denials) throw new Error(`${load.other - denials} responses had another status.`);
    return figures;
  };
}

/**
 * @param {import('node:child_process').ChildProcess} server
 * @param {Load} load
 * @param {number} lastsMs
 * @returns {Promise<import('../harness/part.ts').Figures>}
 */
async function measured(server, load, lastsMs) {
  const before = await sample(server, load);
  const startMs = performance.now();
  await load.during(lastsMs);
  const seconds = (performance.now() - startMs) / 1000;
  const after = await sample(server, load);
  const responses = after.responses - before.responses;
  return {
    requestsPerSecond: responses / seconds,
    serverCpuMicros: (after.serverMicros - before.serverMicros) / responses,
    responseBytes: (after.bytes - before.bytes) / responses,
    loadBusy: (after.loadMicros - before.loadMicros) / 1e6 / seconds,
  };
}

/**
 * @param {import('node:child_process').ChildProcess} server
 * @param {Load} load
 */
async function sample(server, { responses, bytes }) {
  const { user, system } = process.cpuUsage();
  server.send('processor time');
  const [serverMicros] = /** @type {[number]} */ (await once(server, 'message'));
  return { serverMicros, loadMicros: user + system, responses, bytes };
}

/**
 * @param {import('../harness/results.mjs').Results} results
 * @param {string} framework
 * @param {string} outcome
 */
function tableOf(results, framework, outcome) {
  const name = `${framework}, ${outcome}`;
  const rows = (limitersOf.get(framework) ?? []).map((contender) => [contender, ...cells(results, contender, name)]);
  const target = ['', '', '≥ 0.97×', '', '', `≤ ${MOST_ABOVE_TEN_LINES_MICROS}`];
  return {
    title: name,
    rows: [
      ['', 'per second', '÷ without', '÷ ten lines', 'CPU µs', '+ without', '+ ten lines'],
      ...rows,
      ['target for Sluice', ...target],
    ],
    notes: [
      'Requests per second; ÷ those without a limiter and with the ten lines; processor time of the server per request,',
      `and how much more it is. ${coresNote(results)}`,
    ],
  };
}

/**
 * @param {import('../harness/results.mjs').Results} results
 * @param {string} contender
 * @param {string} name
 */
function cells(results, contender, name) {
  return [
    withSpread(results.figure(contender, name, 'requestsPerSecond'), whole),
    withSpread(results.ratio(contender, NONE, name, 'requestsPerSecond'), times),
    withSpread(results.ratio(contender, TEN_LINES, name, 'requestsPerSecond'), times),
    withSpread(results.figure(contender, name, 'serverCpuMicros'), tenths),
    withSpread(results.difference(contender, NONE, name, 'serverCpuMicros'), tenths),
    withSpread(results.difference(contender, TEN_LINES, name, 'serverCpuMicros'), tenths),
  ];
}

/** @param {import('../harness/results.mjs').Results} results */
function coresNote(results) {
  const cases = FRAMEWORKS.flatMap((name) => OUTCOMES.map((outcome) => `${name}, ${outcome}`));
  const busy = cases.flatMap((name) =>
    results.contenders.map((contender) => results.figure(contender, name, 'loadBusy')?.max ?? 0),
  );
  const cores = coresCanBeChosen
    ? 'Server and load generator had a core each'
    : 'Server and load generator shared cores';
  return `${cores}; the generator used at most ${Math.round(100 * Math.max(...busy))} % of one.`;
}
