import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folder, LIMITS, written } from './written-files.ts';
import { countOf, LIMIT, passUntil, watched } from './watched.ts';

const naming = (file: string): string => `- ${LIMIT}: { count: 7, period: 1s, ids: ${file} }\n`;

it('a change of a file of ids is loaded, also of one that was not named before', async () => {
  const { defaults, overrides, dir } = written({ overrides: naming('ids.txt') });
  const ids = join(dir, 'ids.txt');
  writeFileSync(ids, '1\n');
  const { limiter, time, live, loaded, events } = await watched({ defaults, overrides });
  expect(await countOf(limiter, '1')).toBe(7);
  await passUntil(time, () => live.status().checkedAt !== loaded.loadedAt);
  writeFileSync(ids, '1\n2\n');
  await passUntil(time, async () => (await countOf(limiter, '2')) === 7);
  writeFileSync(join(dir, 'other.txt'), '3\n');
  writeFileSync(overrides, naming('other.txt'));
  await passUntil(time, async () => (await countOf(limiter, '3')) === 7);
  writeFileSync(join(dir, 'other.txt'), '4\n');
  await passUntil(time, async () => (await countOf(limiter, '4')) === 7);
  expect([await countOf(limiter, '3'), events.length]).toEqual([300, 3]);
});

it('a mistake in a file of ids, or its end, keeps the limits in use, and is reported once until it is mended', async () => {
  const { defaults, overrides, dir } = written({ overrides: naming('ids.txt') });
  const ids = join(dir, 'ids.txt');
  writeFileSync(ids, '1\n');
  const { limiter, time, events } = await watched({ defaults, overrides });
  const untilEvents = (count: number): Promise<void> => passUntil(time, () => events.length >= count);
  writeFileSync(ids, '2\n2\n');
  await untilEvents(1);
  rmSync(ids);
  await untilEvents(2);
  expect([await countOf(limiter, '1'), await countOf(limiter, '2')]).toEqual([7, 300]);
  // Nothing changes, so nothing more is reported.
  await time.pass(2000);
  writeFileSync(ids, '1\n');
  await untilEvents(3);
  expect(events.map(({ type, message }) => [type, /\n\S*\/(\S+:\d+:\d+)/.exec(message)?.[1]])).toEqual([
    ['limits-rejected', 'ids.txt:2:1'],
    ['limits-rejected', 'overrides.yaml:1:53'],
    ['limits-restored', undefined],
  ]);
});

it('overrides and their ids are those of one moment, through a link that is replaced, as Kubernetes does', async () => {
  const dir = folder();
  const publish = (name: string, id: string): void => {
    mkdirSync(join(dir, name));
    writeFileSync(join(dir, name, 'overrides.yaml'), naming('ids.txt'));
    writeFileSync(join(dir, name, 'ids.txt'), `${id}\n`);
    symlinkSync(name, join(dir, '..next'));
    renameSync(join(dir, '..next'), join(dir, '..data'));
  };
  publish('..1', 'a');
  for (const name of ['overrides.yaml', 'ids.txt']) symlinkSync(join('..data', name), join(dir, name));
  const { limiter, time } = await watched(
    { defaults: () => LIMITS, overrides: join(dir, 'overrides.yaml') },
    { everyMs: 500 },
  );
  expect(await countOf(limiter, 'a')).toBe(7);
  publish('..2', 'b');
  await passUntil(time, async () => (await countOf(limiter, 'b')) === 7);
  expect(await countOf(limiter, 'a')).toBe(300);
});
