// `npm run mutants:leases` leaves out each line of sync.lua in turn, and makes each of its conditions always true and
// always false. It prints what the checks of the script find in each of these mutants, and fails if one survives.
// `-- --only <text>` tries the lines that contain a text.
import { parseArgs } from 'node:util';
import { syncScript } from '../../packages/redis/src/leases/sync-script.ts';
import { realDelay } from '../real-delay.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { running } from '../redis/servers/running.ts';
import { mutantsOf } from './lua-mutants.ts';
import { syncChecks } from './sync-checks.ts';

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });

const HUNG = 'it does not end';
const LONGEST_CHECK_MS = 30_000;

/** Small checks first: they take no time. */
const checks = Object.entries(syncChecks).toReversed();
let server = await redisServer();
let survivors = 0;

const sound = await findProblem(syncScript.source);
if (sound !== undefined) throw new Error(`The script itself fails: ${sound}`);
const mutants = mutantsOf(syncScript.source).filter(({ text }) => text.includes(values.only));
for (const { line, change, text, source } of mutants) {
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  const problem = await findProblem(source);
  if (problem === undefined) survivors++;
  console.log(
    `${String(line).padStart(4)}  ${change.padEnd(9)}  ${(problem ?? 'SURVIVES').slice(0, 60).padEnd(60)}  ${text}`,
  );
}
await running.closeAllBut();
console.log(`\n${mutants.length} mutants, ${survivors} survive`);
process.exit(survivors === 0 && mutants.length > 0 ? 0 : 1);

/** A script that has written can't be ended, only its server. */
async function replaceServer(): Promise<void> {
  await server.kill();
  server = await redisServer();
}

async function hung(): Promise<string> {
  await realDelay(LONGEST_CHECK_MS);
  return HUNG;
}

async function findProblem(source: string): Promise<string | undefined> {
  for (const [title, check] of checks) {
    // oxlint-disable-next-line no-await-in-loop
    const problem = await Promise.race([check(server, source).catch((error: Error) => error.message), hung()]);
    // oxlint-disable-next-line no-await-in-loop
    if (problem === HUNG) await replaceServer();
    if (problem !== undefined) return problem.replace(/^ERR /, '') || title;
  }
  return undefined;
}
