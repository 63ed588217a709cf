import { accountId, createLimiter, memoryStore } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { checkLimits, loadLimits, overrideEndings } from '@sluice/config';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { written } from './written-files.ts';

function filesOf(texts: { readonly limits: string; readonly overrides: string }) {
  const { defaults, overrides } = written(texts);
  return { defaults, overrides };
}

const LIMITS = 'Orders: { count: 1, period: 1h, idFormat: accountId }\n';
const QUOTA = 'Orders: { count: 1, per: month, timeZone: Europe/Berlin, idFormat: accountId }\n';

test('an override of a file applies until its end, without a reload', async () => {
  const files = filesOf({
    limits: LIMITS,
    overrides: '- Orders: { count: 10, period: 1h, until: 2027-01-31, ids: [a, b] }\n',
  });
  const loaded = await loadLimits({ ...files, keys: { Orders: accountId() } });
  const time = new FakeTime(Date.parse('2027-01-31T23:59:59.999Z'));
  const limiter = createLimiter({ ...loaded, store: memoryStore({ time }), time });
  const bursts = () => ['a', 'b', 'c'].map((id) => limiter.checkSync([{ limit: 'Orders', id }]).results[0]?.burst);
  expect(bursts()).toEqual([10, 10, 1]);
  time.advance(1);
  expect(bursts()).toEqual([1, 1, 1]);
});

test('the end of a day is that of the time zone of the limit', async () => {
  const overrides =
    '- Orders: { count: 10, until: 2027-01-31, ids: [a] }\n- Orders: { blocked: true, until: 2027-01-15T18:00Z, ids: [b, {id: c, comment: ticket 7}] }\n';
  const files = filesOf({ limits: QUOTA, overrides });
  expect((await overrideEndings(files)).map(({ ids, endMs }) => [ids, new Date(endMs).toISOString()])).toEqual([
    [['b', 'c'], '2027-01-15T18:00:00.000Z'],
    [['a'], '2027-01-31T23:00:00.000Z'],
  ]);
});

test.each([
  ['2027-02-30', 'a day that exists, such as 2027-01-31'],
  ['2027-01-31 18:00', 'a day that exists'],
  ['31.1.2027', 'a day that exists'],
  ['20270131', 'a day that exists'],
  ['[2027-01-31]', 'a day, such as 2027-01-31'],
  ['~', 'a day that exists'],
])('until: %s is a problem with its position', async (until, message) => {
  const files = filesOf({
    limits: LIMITS,
    overrides: `- Orders: { count: 10, period: 1h, until: ${until}, ids: [a] }\n`,
  });
  expect((await checkLimits(files)).map(({ text }) => text)).toEqual([
    expect.stringMatching(new RegExp(`:1:43: \`Orders.until\` must be ${message}`)),
  ]);
});

test('100,000 overrides with ends are read from files of ids, and each is looked up at its time', async () => {
  const days = Array.from({ length: 20 }, (_, i) => 10 + i);
  const lines = days.map((day) => `- Orders: { count: ${day}, period: 1h, until: 2027-01-${day}, ids: ${day}.txt }\n`);
  const files = filesOf({ limits: LIMITS, overrides: lines.join('') });
  for (const day of days) {
    const ids = Array.from({ length: 5000 }, (_, i) => `id${day}-${i}\n`);
    writeFileSync(join(dirname(files.overrides), `${day}.txt`), ids.join(''));
  }
  const loaded = await loadLimits({ ...files, keys: { Orders: accountId() } });
  const time = new FakeTime(Date.parse('2027-01-20T00:00Z'));
  const limiter = createLimiter({ ...loaded, store: memoryStore({ time }), time });
  const burstOf = (id: string) => limiter.checkSync([{ limit: 'Orders', id }]).results[0]?.burst;
  // Those until 19 January have ended.
  expect(['id10-0', 'id19-4999', 'id20-0', 'id29-4999'].map(burstOf)).toEqual([1, 1, 20, 29]);
}, 60_000);
