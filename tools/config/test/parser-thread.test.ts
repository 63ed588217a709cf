import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { accountId } from '@sluice/core';
import { systemTime } from '@sluice/core/kit';
import { FakeTime } from '@sluice/core/testing';
import { loadLimits } from '@sluice/config';
import { describe, expect, it, vi } from 'vitest';
import { Problems } from '../src/nodes/problems.ts';
import { rowsByThread, type ThreadBounds } from '../src/sources/parser-thread.ts';
import { written, KEYS } from './written-files.ts';
import { sized } from '../../../test/sized.ts';

const LONG = sized(8000, 20_000);
const BOUNDS: ThreadBounds = { memoryMb: 256, timeMs: 60_000, time: systemTime, background: false };

/** The ids that a thread finds in a text, and what it says is wrong with it. */
async function parsedByThread(text: string, bounds: Partial<ThreadBounds> = {}) {
  const problems = new Problems();
  const rows = rowsByThread({ part: 'overrides', bytes: Buffer.from(text) }, problems, { ...BOUNDS, ...bounds });
  const ids: string[] = [];
  for await (const row of rows) ids.push(...row.ids);
  return { ids, problems: problems.list.map(({ message }) => message) };
}

const listOf = (count: number): string =>
  `- A:\n    unlimited: true\n    ids:\n${Array.from({ length: count }, (_, i) => `      - ${i}\n`).join('')}`;

it('a large text is parsed in a thread of its own: all ids arrive, in their order', async () => {
  const { ids, problems } = await parsedByThread(listOf(LONG));
  expect(problems).toEqual([]);
  expect(ids).toEqual(Array.from({ length: LONG }, (_, i) => String(i)));
});

it('a mistake in a large file is reported as in a small one', async () => {
  const { defaults, overrides, dir } = written({
    overrides: `${listOf(3000).replaceAll('- A', '- NewOrdersPerAccount')}      - 7\n`,
  });
  await expect(loadLimits({ defaults, overrides, keys: KEYS })).rejects.toThrow(
    `${dir}/overrides.yaml:3004:9: \`NewOrdersPerAccount\` lists the id '7' twice, first at 11:9.`,
  );
});

it('two large files are parsed at the same time', async () => {
  const count = sized(600, 3000);
  const names = Array.from({ length: count }, (_, i) => `Limit${i}`);
  const { defaults, overrides } = written({
    limits: names.map((name) => `${name}: { count: 1, period: 1s }\n`).join(''),
    overrides: listOf(count).replaceAll('- A', '- Limit7'),
  });
  const keys = Object.fromEntries(names.map((name) => [name, accountId()]));
  const loaded = await loadLimits({ defaults, overrides, keys });
  expect(Object.keys(loaded.limits)).toEqual(names);
  expect(loaded.overrides.rateOf('Limit7', String(count - 1))).toBe('unlimited');
});

it('a large file in the background is loaded as well', async () => {
  expect((await parsedByThread(listOf(5000), { background: true })).ids).toHaveLength(5000);
});

describe('a text that needs too much is rejected:', () => {
  it('of memory', async () => {
    expect(
      (await parsedByThread(`- A: { ids: [${'a,'.repeat(sized(100_000, 250_000))}] }`, { memoryMb: 12 })).problems,
    ).toEqual(['The text needs more than 12 MB of memory to be read. Make it smaller or simpler.']);
  });

  it('of time', async () => {
    const time = new FakeTime();
    const parsed = parsedByThread(listOf(400_000), { time });
    time.advance(60_000);
    expect((await parsed).problems).toEqual([
      'The text took longer than 60000 ms to read. Make it smaller or simpler.',
    ]);
  });

  it('or is no longer needed', async () => {
    const ended = new AbortController();
    const bytes = Buffer.from(listOf(400_000));
    const rows = rowsByThread({ part: 'overrides', bytes }, new Problems(), { ...BOUNDS, signal: ended.signal });
    const threads = (): number => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
    const before = threads();
    ended.abort();
    await vi.waitFor(() => expect(threads()).toBeLessThan(before), 20_000);
    await rows.return('');
  });

  it('or makes the thread fail', async () => {
    const problems = new Problems();
    const job = { part: 'nothing' as 'overrides', bytes: Buffer.from('a') };
    for await (const row of rowsByThread(job, problems, BOUNDS)) expect(row).toBeUndefined();
    expect(problems.list[0]?.message).toMatch(/^The text could not be read: .*is not a function/);
  });
});

it('reading a large file does not block the event loop', async () => {
  const { defaults, overrides } = written({ overrides: listOf(LONG).replaceAll('- A', '- NewOrdersPerAccount') });
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const slow = { name: 'accountId', canonical: (text: string) => (accountId().format.canonical(text), text) };
  await loadLimits({ defaults, overrides, keys: { ...KEYS, NewOrdersPerAccount: { ...accountId(), format: slow } } });
  clearInterval(timer);
  expect(turns).toBeGreaterThan(5);
});

it('the file of the thread gives what it parses to the port that it was given, and wakes the other side', async () => {
  const { port1, port2 } = new MessageChannel();
  const wake = vi.fn<() => void>();
  const environment = process.env;
  vi.doMock('node:worker_threads', () => ({
    parentPort: { postMessage: wake },
    workerData: { part: 'overrides', bytes: Buffer.from('- A: { unlimited: true, ids: [1] }'), port: port2 },
  }));
  await import('../src/parse-worker.ts');
  process.env = environment;
  expect(receiveMessageOnPort(port1)?.message).toMatchObject({ rows: [{ limit: 'A', ids: ['1'] }] });
  expect(receiveMessageOnPort(port1)?.message).toMatchObject({ end: { count: 0 } });
  expect(wake).toHaveBeenCalledTimes(2);
  port1.close();
});
