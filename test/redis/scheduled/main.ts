// `npm run trial -- scheduled` prints how much of a limit several processes with schedulers use on a real Redis, and how many
// scripts they call for each call that begins.
import { once } from 'node:events';
import { realDelay } from '../../real-delay.ts';
import { run } from '../processes/run.ts';
import { redisServer } from '../servers/redis-server.ts';

interface Figures {
  readonly used: number;
  readonly scripts: number;
}

/** @param lastsMs - How long the processes work. The first second is left out. */
export async function measured(processes: number, count: number, ahead: string, lastsMs: number): Promise<Figures> {
  const server = await redisServer();
  const orders = { url: server.url, count, ahead, waiting: 100, lastsMs };
  const children = Array.from({ length: processes }, () => run('../scheduled/worker.mjs', [JSON.stringify(orders)]));
  await Promise.all(children.map((child) => once(child, 'message')));
  const seen = children.map(async (child) => ((await once(child, 'message')) as [{ starts: number[] }])[0]);
  for (const child of children) child.send('go');
  await realDelay(1000);
  const before = [Date.now(), await scripts(server)] as const;
  await realDelay(lastsMs - 1500);
  const after = [Date.now(), await scripts(server)] as const;
  const starts = (await Promise.all(seen)).flatMap((each) => each.starts);
  const within = starts.filter((at) => at >= before[0] && at < after[0]).length;
  return { used: within / ((count * (after[0] - before[0])) / 1000), scripts: (after[1] - before[1]) / within };
}

async function scripts(server: { call(...args: string[]): Promise<unknown> }): Promise<number> {
  const stats = String(await server.call('INFO', 'commandstats'));
  return [...stats.matchAll(/cmdstat_(?:evalsha|eval|fcall):calls=(\d+)/g)].reduce((sum, [, n]) => sum + Number(n), 0);
}

if (process.argv[1]?.endsWith('scheduled/main.ts') === true) {
  const [, , seconds = '6'] = process.argv;
  for (const [processes, count, ahead] of [
    [1, 100, '50ms'],
    [4, 100, '50ms'],
    [8, 100, '20ms'],
    [8, 100, '50ms'],
    [8, 100, '100ms'],
    [8, 100, '200ms'],
    [8, 1000, '50ms'],
  ] as const) {
    const { used, scripts: each } = await measured(processes, count, ahead, Number(seconds) * 1000);
    const percent = (100 * used).toFixed(1);
    console.log(
      `${processes} processes, ${count}/s, ahead ${ahead}: ${percent} % used, ${each.toFixed(2)} scripts a call`,
    );
  }
  process.exit(0);
}
