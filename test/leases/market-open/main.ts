// `npm run trial -- market-open` lets 285,000 requests a second come where there were 18,000, from 1.4 million clients: in a
// simulation with the code of the product, and with processes of this machine on a real Redis. `simulated` and
// `processes` run one of the two. `--quick` checks in less than a minute that everything runs, `--all-rows` prints each
// 100 ms of the simulation, and `--write` writes the result and the tables of docs/measured/market-open.md: then run `npm run format` and
// `node scripts/draw-market-open.mjs`. What Redis needs for a call, a decision and a bucket of a sync are options of the
// simulation. `docs` writes the tables of the committed result.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { writeTables } from './docs-page.ts';
import { measureAll } from './measured.ts';
import { committedResult, RESULT_FILE, type MeasuredResult, type Result, type SimulatedResult } from './result.ts';
import { MARKET_OPEN } from './scenario.ts';
import { assumptions, simulateAll } from './simulated.ts';
import { markdown, mostDecisionsTable, openTable, simulatedTable } from './tables.ts';

const { gateways, redis, seed, durationMs } = MARKET_OPEN;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    'all-rows': { type: 'boolean', default: false },
    seed: { type: 'string', default: String(seed) },
    gateways: { type: 'string', default: String(gateways) },
    'call-micros': { type: 'string', default: String(redis.callMicros) },
    'decision-micros': { type: 'string', default: String(redis.decisionMicros) },
    'bucket-micros': { type: 'string', default: String(redis.bucketMicros) },
  },
});
const PARTS = ['simulated', 'processes', 'docs'];
const parts = positionals.length === 0 ? ['simulated', 'processes'] : positionals;
for (const part of parts) if (!PARTS.includes(part)) throw new Error(`There is no part ${part}: ${PARTS.join(', ')}.`);
if (values.quick && values.write) throw new Error('--quick measures too little for --write.');

const result: Partial<Result> = {
  ...(parts.includes('simulated') && { simulated: simulated() }),
  ...(parts.includes('processes') && { measured: await measured() }),
};
if (values.write) {
  const before = JSON.parse(readFileSync(RESULT_FILE, 'utf8')) as Partial<Result>;
  writeFileSync(RESULT_FILE, `${JSON.stringify({ ...before, ...result }, rounded, 2)}\n`);
}
if (values.write || parts.includes('docs')) writeTables(committedResult());

function simulated(): SimulatedResult {
  const scenario = {
    ...MARKET_OPEN,
    seed: Number(values.seed),
    gateways: Number(values.gateways),
    redis: {
      callMicros: Number(values['call-micros']),
      decisionMicros: Number(values['decision-micros']),
      bucketMicros: Number(values['bucket-micros']),
    },
    durationMs: values.quick ? 1000 : durationMs,
  };
  console.log(assumptions(scenario));
  const all = simulateAll(scenario);
  console.log(`\n${markdown(simulatedTable(all, values['all-rows']))}\n`);
  return all;
}

async function measured(): Promise<MeasuredResult> {
  const plan = values.quick ? { turns: 1, lastsMs: 300 } : { turns: 5, lastsMs: 2000 };
  const all = await measureAll({ ...plan, seed: Number(values.seed) });
  console.log(`\n${markdown(mostDecisionsTable(all))}\n\n${markdown(openTable(all))}\n`);
  return all;
}

/** Four digits are more than such a figure is worth. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
}
