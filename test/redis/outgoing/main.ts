// `npm run trial -- outgoing-peers` lets eight processes on one Redis call servers that limit them by other libraries, and by
// ours: once with a limit of ours that is below theirs, and once with none that matters. It prints what came of the calls, and
// fails if a demand is missed. `--minutes 10` lasts longer than two, and `--kill` kills one process in the middle with SIGKILL.
import { once } from 'node:events';
import type { ChildProcess } from 'node:child_process';
import { parseArgs } from 'node:util';
import { realDelay } from '../../real-delay.ts';
import { run } from '../processes/run.ts';
import { redisServer } from '../servers/redis-server.ts';
import { rowOf } from './demands.ts';
import { Levels } from './levels.ts';
import type { Answer } from './provider.ts';
import { SCENARIOS, WAY_MS } from './scenarios.ts';
import { ScriptCounts } from './script-counts.ts';
import type { WorkerOrders, WorkerReport } from './worker.mjs';

const PROCESSES = 8;
/** How many calls of each process wait for each server. */
const WAITING = 10;

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '2' }, kill: { type: 'boolean', default: false } },
});

const { url } = await redisServer();
const scripts = await new ScriptCounts(url).begin();
const levels = await Levels.on(url);
const provider = started('provider.ts');
const targets = await messageOf<readonly string[]>(provider);
const workers = Array.from({ length: PROCESSES }, (_, number) => worker(number));
await Promise.all(workers.map((each) => messageOf(each)));
for (const each of workers) each.send('go');
const halfMs = (Number(values.minutes) * 60_000) / 2;
await realDelay(halfMs);
if (values.kill) workers.pop()!.kill('SIGKILL');
await realDelay(halfMs);
const after = await levels.read();
for (const each of workers) each.send('end');
const reports = await Promise.all(workers.map((each) => messageOf<WorkerReport>(each)));
provider.send('report');
const answers = await messageOf<readonly (readonly Answer[])[]>(provider);
for (const each of workers) each.send('close');
const rows = SCENARIOS.map((scenario, i) =>
  rowOf(scenario, {
    answers: answers[i]!,
    scripts: scripts.of(scenario.prefix),
    unavailable: reports.reduce((sum, { unavailable }) => sum + unavailable[i]!, 0),
    late: reports.map(({ late }) => new Set(late[i])),
    beganMs: Math.min(...reports.map(({ firstMs }) => firstMs[i]!)),
    level: after[i]!,
    isKilled: values.kill,
  }),
);
console.table(Object.fromEntries(rows.map(({ name, figures }) => [name, figures])));
const misses = [...rows.flatMap(({ misses: each }) => each), ...reports.flatMap(({ failures }) => failures)];
for (const miss of misses) console.error(miss);
process.exit(misses.length === 0 ? 0 : 1);

function worker(number: number): ChildProcess {
  const calls = SCENARIOS.map(({ prefix, limit }, i) => ({ target: targets[i]!, prefix, limit }));
  const orders: WorkerOrders = { number, redis: url, calls, waiting: WAITING, wayMs: WAY_MS };
  return started('worker.mjs', [JSON.stringify(orders)]);
}

function started(file: string, args: readonly string[] = []): ChildProcess {
  const child = run(`../outgoing/${file}`, args);
  child.stderr!.pipe(process.stderr);
  child.stdout!.resume();
  return child;
}

/** Returns the next message of a process, which must not end before. */
async function messageOf<T>(child: ChildProcess): Promise<T> {
  const ended = once(child, 'exit').then(([code]: readonly unknown[]) => {
    throw new Error(`A process has ended with ${String(code)}.`);
  });
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [T];
  return message;
}
