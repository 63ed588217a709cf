import { syncScript } from '../../../packages/redis/src/leases/sync-script.ts';
import { realDelay } from '../../real-delay.ts';
import { redisServer } from '../../redis/servers/redis-server.ts';
import { running } from '../../redis/servers/running.ts';
import { syncChecks } from '../sync-checks.ts';
import { mutantsOf } from './lua-mutants.ts';
import type { Tried } from './tried.ts';

const HUNG = 'it does not end';
const LONGEST_CHECK_MS = 30_000;

type Server = Awaited<ReturnType<typeof redisServer>>;

/** Small checks first: they take no time. */
const checks = Object.entries(syncChecks).toReversed();

/** Tries each mutant of sync.lua whose line contains a text on a real server, and prints what the checks find in it. */
export async function tryScriptMutants(only: string): Promise<Tried> {
  let server = await redisServer();
  let survivors = 0;
  const sound = await findProblem(server, syncScript.source);
  if (sound !== undefined) throw new Error(`The script itself fails: ${sound}`);
  const mutants = mutantsOf(syncScript.source).filter(({ text }) => text.includes(only));
  for (const { line, change, text, source } of mutants) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const problem = await findProblem(server, source);
    // A script that has written can't be ended, only its server.
    // oxlint-disable-next-line no-await-in-loop
    if (problem === HUNG) server = await replaced(server);
    if (problem === undefined) survivors++;
    console.log(
      `${String(line).padStart(4)}  ${change.padEnd(9)}  ${(problem ?? 'SURVIVES').slice(0, 60).padEnd(60)}  ${text}`,
    );
  }
  await running.closeAllBut();
  return { mutants: mutants.length, survivors };
}

async function replaced(server: Server): Promise<Server> {
  await server.kill();
  return redisServer();
}

async function hung(): Promise<string> {
  await realDelay(LONGEST_CHECK_MS);
  return HUNG;
}

async function findProblem(server: Server, source: string): Promise<string | undefined> {
  for (const [title, check] of checks) {
    // oxlint-disable-next-line no-await-in-loop
    const problem = await Promise.race([check(server, source).catch((error: Error) => error.message), hung()]);
    if (problem !== undefined) return problem.replace(/^ERR /, '') || title;
  }
  return undefined;
}
