import { expect, test } from 'vitest';
import { written } from './files.ts';
import { run, runJson } from './run.ts';

const LIMITS = 'Orders: { count: 300, period: 3h, idFormat: accountId }\n';
const DAY_MS = 86_400_000;

/** The day that begins so many days after today. */
const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

const file = (...ends: readonly string[]): string =>
  ends.map((end, i) => `- Orders: { unlimited: true, until: ${end}, ids: [a${i}, b${i}] }\n`).join('');

test('sluice overrides lists those with an end, the first to end first', async () => {
  const [later, past, soon] = [inDays(60), '2020-01-31', inDays(20)];
  const [limits = '', overrides = ''] = written(
    LIMITS,
    `${file(later, past, soon)}- Orders: { blocked: true, ids: [c] }\n`,
  );
  const { code, out } = await run(['overrides', limits, overrides]);
  expect(code).toBe(0);
  expect(out.split('\n')).toEqual([
    expect.stringMatching(/^Orders has ended 2020-01-31 \(\d+ days ago; remove it\): a1 and 1 more$/),
    `Orders ends ${soon} (in 20 days): a2 and 1 more`,
    `Orders ends ${later} (in 60 days): a0 and 1 more`,
    '',
  ]);
  expect(await runJson(['overrides', limits, overrides, '--ending', '30d'])).toEqual({
    endings: [
      { limit: 'Orders', ids: ['a1', 'b1'], until: past, ends: '2020-02-01T00:00:00.000Z', place: `${overrides}:2:3` },
      {
        limit: 'Orders',
        ids: ['a2', 'b2'],
        until: soon,
        ends: `${inDays(21)}T00:00:00.000Z`,
        place: `${overrides}:3:3`,
      },
    ],
  });
});

test('sluice check warns of overrides that have ended or end within 14 days, and exits with 0', async () => {
  const [limits = '', overrides = ''] = written(LIMITS, file('2020-01-31', inDays(12), inDays(15)));
  const { code, out, err } = await run(['check', limits, overrides]);
  expect({ code, out }).toEqual({ code: 0, out: '' });
  expect(err.split('\n').filter((line) => line.startsWith('Warning:'))).toEqual([
    expect.stringContaining(`${overrides}:1:3: Orders has ended 2020-01-31`),
    `Warning: ${overrides}:2:3: Orders ends ${inDays(12)} (in 12 days): a1 and 1 more`,
  ]);
  expect(await runJson(['check', limits, overrides])).toMatchObject({
    problems: [],
    warnings: [{}, {}].map(() => expect.any(String) as string),
  });
});

test.each(['0d', '30', '1y', '', '-1d'])('--ending %j is refused with a remedy', async (value) => {
  const files = written(LIMITS, file(inDays(1)));
  expect(await run(['overrides', ...files, `--ending=${value}`])).toMatchObject({
    code: 2,
    err: expect.stringContaining('For example --ending 30d.') as string,
  });
});

test('sluice explain shows the numbers of the limit once an override has ended', async () => {
  const [limits = '', overrides = ''] = written(LIMITS, file('2020-01-31', inDays(3)));
  const stateOf = async (id: string) => await runJson(['explain', limits, overrides, 'Orders', id]);
  expect(await stateOf('a0')).toMatchObject({ state: 'counted', override: null, endedOverride: 'a0' });
  expect(await stateOf('a1')).toMatchObject({ state: 'unlimited', override: 'a1', endedOverride: null });
  expect(await stateOf('a2')).toMatchObject({ state: 'counted', override: null, endedOverride: null });
  const { out } = await run(['explain', limits, overrides, 'Orders', 'a0']);
  expect(out).toContain('from       the limit: the override for a0 has ended\n');
});
