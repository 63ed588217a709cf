import { memoryStore } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { running } from '../../redis/servers/running.ts';
import { ENTRIES, type Ask } from './entries.ts';

afterEach(() => running.closeAllBut());

const LIMIT = { limit: 5, windowMs: 60_000 };

async function statuses(ask: Ask, count: number, client = '203.0.113.7'): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: count }, () => ask(client)));
  return answers.map(({ status }) => status);
}

const passed = (all: readonly number[]): number => all.filter((status) => status !== 429).length;

describe.each(ENTRIES)('a store behind $name', ({ serve }) => {
  test('lets exactly the limit through at one moment, and then one more for each part of the window', async () => {
    const time = new FakeTime(Date.now());
    const ask = await serve({ ...LIMIT, store: memoryStore({ time }), time });
    expect(passed(await statuses(ask, 25))).toBe(5);
    time.advance(11_999.999);
    expect(passed(await statuses(ask, 3))).toBe(0);
    time.advance(0.001);
    expect(passed(await statuses(ask, 3))).toBe(1);
    expect(passed(await statuses(ask, 25, '203.0.113.8'))).toBe(5);
  });

  test('reports the exact wait to a denied client', async () => {
    // Some limiters compare the date of the store with that of the process.
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const time = new FakeTime(Date.now());
    const ask = await serve({ ...LIMIT, store: memoryStore({ time }), time });
    await statuses(ask, 5);
    expect(await ask('203.0.113.7')).toEqual({ status: 429, retryAfterSeconds: 12 });
  });
});

describe.each(ENTRIES.filter(({ givesBack }) => givesBack))('with skipFailedRequests behind $name', ({ serve }) => {
  test('a request that fails is given back once, and one that is denied gives nothing back', async () => {
    const time = new FakeTime(Date.now());
    const ask = await serve({ ...LIMIT, store: memoryStore({ time }), time, skipFailedRequests: true });
    // One after another: a request is given back after its response.
    for (let i = 0; i < 10; i++) expect((await ask('203.0.113.7', true)).status).toBe(400);
    expect(passed(await statuses(ask, 25))).toBe(5);
    expect(passed(await statuses(ask, 25))).toBe(0);
    expect(await ask('203.0.113.7', true)).toMatchObject({ status: 429 });
    expect(passed(await statuses(ask, 25))).toBe(0);
  });
});
