import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { descriptor, envoyOf } from '../../../test/service/envoy.ts';
import { served } from '../../../test/service/served.ts';
import type { ServiceOptions } from '@sluice/serve';

const LIMITS = 'A: { count: 2, period: 1h, idFormat: by }\nB: { count: 9, period: 1h, idFormat: by }\n';
const OVERRIDES = '- A: { count: 5, period: 1h, ids: ids.txt }\n';
const tables = (limit: string) => `envoy: { ingress: { rules: [{ descriptor: [user], limit: ${limit} }] } }\n`;

async function filed(log: ServiceOptions['log'] = false) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-serve-'));
  const fileOf = (name: string): string => join(folder, name);
  const paths = {
    limits: fileOf('limits.yaml'),
    tables: fileOf('tables.yaml'),
    overrides: fileOf('overrides.yaml'),
  };
  const ids = fileOf('ids.txt');
  writeFileSync(paths.overrides, OVERRIDES);
  writeFileSync(ids, '# none\n');
  writeFileSync(paths.limits, LIMITS);
  writeFileSync(paths.tables, tables('A'));
  const all = await served('', '', { ...paths, everyMs: 100, log });
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const envoy = envoyOf(all.servers.ports.grpc);
  const ask = async () =>
    (await envoy.ask({ domain: 'ingress', descriptors: [descriptor({ user: 'ada' })] })).statuses.at(0)!;
  /** Lets the service look at its files until it has said so many things. */
  const untilEvents = (count: number) =>
    vi.waitFor(() => {
      all.time.advance(100);
      expect(all.events.length).toBeGreaterThanOrEqual(count);
    }, 5000);
  return { ...all, paths, ids, ask, untilEvents };
}

test('a changed table takes effect, with limits that are new, and buckets keep their levels', async () => {
  const { paths, ask, untilEvents, events } = await filed();
  expect((await ask()).limit_remaining).toBe(1);
  writeFileSync(paths.tables, tables('C'));
  writeFileSync(paths.limits, `${LIMITS}C: { count: 5, period: 1h, idFormat: by }\n`);
  await untilEvents(1);
  expect(events).toMatchObject([{ type: 'tables-reloaded' }]);
  expect(await ask()).toMatchObject({ current_limit: { name: 'C' }, limit_remaining: 4 });
  writeFileSync(paths.tables, tables('A'));
  await untilEvents(2);
  expect(await ask()).toMatchObject({ current_limit: { name: 'A' }, limit_remaining: 0 });
});

test('a changed file of ids takes effect, and one with a mistake changes nothing and is reported once', async () => {
  const { ids, ask, untilEvents, events, time } = await filed();
  writeFileSync(ids, 'ada\n');
  await untilEvents(1);
  expect((await ask()).limit_remaining).toBe(4);
  rmSync(ids);
  await untilEvents(2);
  writeFileSync(ids, 'ada\nada\n');
  await untilEvents(3);
  expect((await ask()).limit_remaining).toBe(3);
  await time.pass(1000);
  expect(events.map(({ type, message }) => [type, /\n\S*\/(\S+:\d+:\d+)/.exec(message)?.[1]])).toEqual([
    ['tables-reloaded', undefined],
    ['tables-rejected', 'overrides.yaml:1:35'],
    ['tables-rejected', 'ids.txt:2:1'],
  ]);
});

test('a file with a mistake changes nothing, and is reported by line and column', async () => {
  const { paths, ask, untilEvents, events, service } = await filed();
  const before = service.version;
  writeFileSync(paths.tables, tables('Missing'));
  await untilEvents(1);
  expect(events).toMatchObject([
    {
      type: 'tables-rejected',
      message: expect.stringMatching(/problem with the tables:\n.*tables\.yaml:1:58: `Missing` is not/) as string,
    },
  ]);
  expect([service.version, (await ask()).current_limit?.name]).toEqual([before, 'A']);
  writeFileSync(paths.tables, tables('B'));
  await untilEvents(2);
  expect((await ask()).current_limit?.name).toBe('B');
});

test('each rejected change is a line of the log, however soon it follows the one before, and so is the next good one', async () => {
  const lines: string[] = [];
  const { paths, untilEvents } = await filed((line) => lines.push(line));
  writeFileSync(paths.tables, tables('Missing'));
  await untilEvents(1);
  writeFileSync(paths.limits, LIMITS.replace('count: 2', 'count: 0'));
  await untilEvents(2);
  writeFileSync(paths.tables, tables('B'));
  await untilEvents(3);
  writeFileSync(paths.limits, LIMITS);
  await untilEvents(4);
  expect(
    lines.map((line) => /tables\.yaml:1:58: `Missing`|limits\.yaml:1:13: `A\.count`|files reloaded/.exec(line)?.[0]),
  ).toEqual([
    'tables.yaml:1:58: `Missing`',
    'limits.yaml:1:13: `A.count`',
    'limits.yaml:1:13: `A.count`',
    'files reloaded',
  ]);
});
