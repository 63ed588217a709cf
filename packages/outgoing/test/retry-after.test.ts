import { createLimiter, everyone } from '@sluice/core';
import { createScheduler } from '@sluice/core/scheduler';
import { FakeTime } from '@sluice/core/testing';
import { limitedFetch, type LimitedFetchOptions } from '@sluice/outgoing';
import { describe, expect, test } from 'vitest';

const url = 'https://api.example.com';
/** The clock of the caller, an hour after that of the provider. */
const NOW_MS = Date.UTC(2026, 10, 29, 12);
const dateIn = (ms: number): string => new Date(NOW_MS + ms).toUTCString();
const HOUR_MS = 3_600_000;

/** Lets what has begun be denied, and then time pass. */
async function later(time: FakeTime, ms: number): Promise<void> {
  await time.pass(0);
  await time.pass(ms);
}

/** A door to a provider that denies the first request, and when it has sent something. */
function scene(fields: Readonly<Record<string, string>>, options: Partial<LimitedFetchOptions<'Api'>> = {}) {
  const time = new FakeTime();
  time.setWall(NOW_MS);
  const limits = { Api: { key: everyone(), count: 1000, period: '1s' } } as const;
  const scheduler = createScheduler(createLimiter({ limits, time, log: false }));
  const sentMs: number[] = [];
  const fetch = async (): Promise<Response> => {
    sentMs.push(time.nowMs);
    return sentMs.length === 1 ? new Response('denied', { status: 503, headers: fields }) : new Response('served');
  };
  return { time, scheduler, sentMs, limited: limitedFetch({ scheduler, fetch, retries: 1, ...options }) };
}

describe.each([
  ['without learning', { learn: false }],
  ['with learning', {}],
] as const)('a request that is sent again %s', (_, options) => {
  test.each([
    ['seconds', { 'retry-after': '7' }, 7000],
    ['milliseconds', { 'retry-after-ms': '2500', 'retry-after': '9' }, 2500],
    ['milliseconds of Azure', { 'x-ms-retry-after-ms': '3500' }, 3500],
    ['a date, by the Date of the answer', { date: dateIn(-HOUR_MS), 'retry-after': dateIn(8000 - HOUR_MS) }, 8000],
    ['a date, by our clock', { 'retry-after': dateIn(9000) }, 9000],
  ])('waits as long as its answer says: %s', async (_what, fields, waitMs) => {
    const { limited, time, sentMs } = scene(fields, options);
    const answer = limited(url);
    await later(time, 20_000);
    expect([await (await answer).text(), sentMs]).toEqual(['served', [0, waitMs]]);
  });

  test('waits longer than what is learnt is believed, within its time', async () => {
    const { limited, time, sentMs } = scene({ 'retry-after': '120' }, { ...options, within: '5m' });
    const answer = limited(url);
    await later(time, 300_000);
    expect([await (await answer).text(), sentMs]).toEqual(['served', [0, 120_000]]);
  });

  test.each(['30', '31', '9'.repeat(400)])(
    'returns its answer at once if its time is over in %s s',
    async (seconds) => {
      const { limited, time, sentMs, scheduler } = scene({ 'retry-after': seconds }, options);
      const answer = await limited(url);
      expect([answer.status, await answer.text(), time.nowMs]).toEqual([503, 'denied', 0]);
      await time.pass(60_000);
      expect([sentMs, scheduler.running, scheduler.size, time.pending]).toEqual([[0], 0, 0, 0]);
    },
  );

  test('waits for its back-off where that is longer', async () => {
    const { limited, time, sentMs } = scene({ 'retry-after-ms': '1' }, options);
    const answer = limited(url);
    await later(time, 20_000);
    await answer;
    expect(sentMs[1]).toBeGreaterThanOrEqual(250);
    expect(sentMs[1]).toBeLessThanOrEqual(500);
  });
});

test('a request whose back-off ends after its time returns its answer at once', async () => {
  const { limited, time, sentMs } = scene({}, { learn: false, within: '200ms' });
  expect((await limited(url)).status).toBe(503);
  expect([time.nowMs, sentMs]).toEqual([0, [0]]);
});

test('a request that waits to be sent again leaves when it is aborted', async () => {
  const { limited, time, sentMs } = scene({ 'retry-after': '7' }, { learn: false });
  const leaving = new AbortController();
  const answer = limited(url, { signal: leaving.signal });
  await later(time, 1000);
  leaving.abort(new Error('left'));
  await expect(answer).rejects.toThrow('left');
  expect([sentMs, time.pending]).toEqual([[0], 0]);
});
