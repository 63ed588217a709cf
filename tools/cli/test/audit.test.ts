import { accountId, createLimiter } from '@sluice/core';
import { hostStore } from '@sluice/host';
import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { randomNumbers } from '../../../scripts/random-numbers.mjs';
import { sized } from '../../../test/sized.ts';
import { written } from './files.ts';
import { run, type Given, type Ran } from './run.ts';

const LIMITS = 'Orders: { count: 300, period: 300h, idFormat: accountId }';

let on: (words: readonly string[], given?: Given) => Promise<Ran>;
beforeEach(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-audit-'));
  const socket = join(folder, 'app.sock');
  const store = hostStore({ socket, log: false });
  const limiter = createLimiter({
    limits: { Orders: { key: accountId(), count: 300, period: '300h' } },
    store,
    log: false,
  });
  await limiter.ready();
  const [limits = ''] = written(LIMITS);
  on = ([command = '', ...options], given) =>
    run([command, '--store', `host:${socket}`, ...options, limits, 'Orders', 'alice'], given);
  onTestFinished(async () => {
    await limiter.close({ store: true });
    rmSync(folder, { recursive: true, force: true });
  });
});

// On a terminal, the end of the answer to a question ends its line.
function recordsIn({ err }: Ran): readonly unknown[] {
  return Array.from(err.matchAll(/\{"type":"sluice-audit".*\}/g), ([line]) => JSON.parse(line) as unknown);
}

test.each([
  [['charge', '--cost', '7'], { what: 'charge', before: 300, after: 293 }],
  [['refund', '--cost', '7'], { what: 'refund', before: 300, after: 300 }],
  [['reset', '--yes'], { what: 'reset', before: 300, after: 300 }],
])('%j with --audit writes one record', async (words, expected) => {
  const ran = await on([...words, '--audit', '--by', 'ann', '--reason', 'ticket 7']);
  expect(ran.code).toBe(0);
  expect(recordsIn(ran)).toEqual([
    {
      type: 'sluice-audit',
      version: 1,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      by: 'ann',
      limit: 'Orders',
      id: 'alice',
      outcome: 'done',
      reason: 'ticket 7',
      ...expected,
    },
  ]);
});

test('without --audit nothing is written, and peek has no such option', async () => {
  expect(recordsIn(await on(['charge']))).toEqual([]);
  expect((await on(['peek', '--audit'])).code).toBe(2);
});

test('on a terminal the user and the host are named, and a reset that is not confirmed is not done', async () => {
  const ran = await on(['reset', '--audit'], { isTty: true, stdin: 'Other\n' });
  expect(ran.code).toBe(2);
  expect(recordsIn(ran)).toMatchObject([
    { by: `${userInfo().username}@${hostname()}`, outcome: 'not done', after: null },
  ]);
});

test('with --hash-ids no record has the id', async () => {
  const ran = await on(['charge', '--audit', '--by', 'ann', '--hash-ids']);
  expect(recordsIn(ran)).toMatchObject([{ id: expect.stringMatching(/^sha256:[0-9a-f]{32}$/) as string }]);
  expect(ran.err).not.toContain('alice');
});

test.each([
  [['charge', '--audit'], '`--by` must name who does it'],
  [['charge', '--audit', '--by', ' '], '`--by` must name who does it'],
  [['charge', '--by', 'ann'], '`--by` must be given with `--audit`'],
  [['charge', '--hash-ids'], '`--hash-ids` must be given with `--audit`'],
])('%j is refused before anything is changed', async (words, message) => {
  const ran = await on(words);
  expect(ran).toMatchObject({ code: 2, err: expect.stringContaining(message) as string });
  expect((await on(['peek'])).out).toContain('300 of 300 tokens left');
});

test('the records of random operations are complete: each begins with what the one before has left', async () => {
  const random = randomNumbers(7);
  const operations = sized(40, 1000);
  const found: { before: number; after: number }[] = [];
  for (let i = 0; i < operations; i++) {
    const cost = ['--cost', String(1 + Math.floor(random() * 80))];
    const words = [
      ['charge', ...cost],
      ['charge', ...cost],
      ['refund', ...cost],
      ['reset', '--yes'],
    ][Math.floor(random() * 4)]!;
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    found.push(...(recordsIn(await on([...words, '--audit', '--by', 'ann'])) as typeof found));
  }
  expect(found).toHaveLength(operations);
  // No token comes back meanwhile: one takes an hour.
  const left = [300, ...found.map(({ after }) => after)];
  expect(found.map(({ before }) => before)).toEqual(left.slice(0, -1));
});
