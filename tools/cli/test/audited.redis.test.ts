import { expect, it } from 'vitest';
import { Random } from '../../../test/leases/random.ts';
import { redisServer } from '../../../test/redis/servers/redis-server.ts';
import { sized } from '../../../test/sized.ts';
import { recordIn } from '../src/limits/records.ts';
import { written } from './files.ts';
import { run } from './run.ts';

const CHANGES = sized(60, 1000);
const IDS = ['alice@example.org', 'bob@example.org', '12345678', 'Ünïcödé'] as const;
const LIMITS = 'Orders: { count: 300, period: 3h, idFormat: accountId }\n';

/** The commands that change what a store has, and their options. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  charge: ['--cost', '7', '--reason', 'late'],
  refund: ['--cost', '3', '--reason', 'twice'],
  reset: ['--yes', '--reason', 'new'],
  block: ['--for', '2h', '--reason', 'scrapes'],
  unblock: ['--reason', 'sorry'],
};

it('each of many random changes writes one whole record to stderr and to the log, without an id where ids are hashed', async () => {
  const { url } = await redisServer();
  const [limits = ''] = written(LIMITS);
  const random = new Random(1);
  const made: string[] = [];
  for (let i = 0; i < CHANGES; i++) {
    const [what, id] = [random.pick(Object.keys(COMMANDS)), random.pick(IDS)];
    const words = [what, '--redis', url, limits, 'Orders', id, ...COMMANDS[what]!];
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { code, err } = await run([...words, '--by', 'mia', '--audit', '--log', '--hash-ids']);
    const records = err.split('\n').flatMap((line) => recordIn(line) ?? []);
    expect({ what, code, err, records }).toMatchObject({ code: 0, records: [{ what, by: 'mia', limit: 'Orders' }] });
    expect(err).not.toContain(id);
    made.push(`${what} ${records[0]!.id} ${records[0]!.outcome}`);
  }
  const log = await run(['log', '--redis', url, '--json']);
  const { records } = JSON.parse(log.out) as { records: { what: string; id: string; outcome: string }[] };
  expect(records.map(({ what, id, outcome }) => `${what} ${id} ${outcome}`)).toEqual(made);
  expect(IDS.filter((id) => log.out.includes(id))).toEqual([]);
  expect(new Set(records.map(({ what }) => what)).size).toBe(Object.keys(COMMANDS).length);
});
