import { createLimiter, everyone } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { createScheduler } from '@sluice/core/scheduler';
import { FakeTime } from '@sluice/core/testing';
import { limitedFetch, type LimitedFetchOptions } from '@sluice/outgoing';
import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, test, vi } from 'vitest';

const url = 'https://api.example.com';
const key = everyone();
afterEach(() => void vi.restoreAllMocks());

/** A door with one slot, and what its provider answers to one request after the other. */
function scene(answers: (Response | Error)[], options: Partial<LimitedFetchOptions<'InFlight'>> = {}) {
  const time = new FakeTime();
  const limits = { InFlight: concurrency({ key, concurrency: 1 }) };
  const scheduler = createScheduler(createLimiter({ limits, time, log: false }));
  const sentMs: number[] = [];
  const fetch = async (): Promise<Response> => {
    sentMs.push(time.nowMs);
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer ?? new Response('served');
  };
  const limited = limitedFetch({ scheduler, fetch, learn: false, retries: 10, within: '5m', ...options });
  return { time, scheduler, sentMs, limited };
}

/** An answer, and whether its body was cancelled. */
function denied() {
  const cancel = vi.fn<() => void>();
  const body = new ReadableStream({ start: (to) => to.enqueue(new TextEncoder().encode('denied')), cancel });
  return { answer: new Response(body, { status: 503 }), cancel };
}

async function later(time: FakeTime, ms: number): Promise<void> {
  await time.pass(0);
  await time.pass(ms);
}

describe('a request that is sent again', () => {
  test.each([
    [0, [500, 1000, 2000, 4000, 8000, 8000]],
    [0.5, [375, 750, 1500, 3000, 6000, 6000]],
  ])('waits twice as long each time up to eight seconds, and a part less by chance: %d', async (chance, waits) => {
    vi.spyOn(Math, 'random').mockReturnValue(chance);
    const { limited, time, sentMs } = scene(waits.map(() => denied().answer));
    const answer = limited(url);
    await later(time, 60_000);
    expect(await (await answer).text()).toBe('served');
    expect(sentMs.slice(1).map((atMs, i) => atMs - sentMs[i]!)).toEqual(waits);
  });

  test('cancels the answer before', async () => {
    const { answer, cancel } = denied();
    const { limited, time } = scene([answer]);
    const served = limited(url);
    await time.pass(0);
    expect(cancel).not.toHaveBeenCalled();
    await time.pass(1000);
    await served;
    expect(cancel).toHaveBeenCalledOnce();
  });

  test('fails as it does then, and cancels the answer before', async () => {
    const { answer, cancel } = denied();
    const { limited, time } = scene([answer, new Error('lost')]);
    const failed = limited(url).catch((error: unknown) => String(error));
    await later(time, 1000);
    expect(await failed).toBe('Error: lost');
    expect(cancel).toHaveBeenCalledOnce();
  });

  test('returns its answer if the scheduler has no place for it in time', async () => {
    const { answer, cancel } = denied();
    const { limited, time, scheduler } = scene([answer], { within: '3s' });
    const first = limited(url);
    await time.pass(0);
    // Another one takes the slot meanwhile.
    const other = await limited(url);
    await time.pass(5000);
    const returned = await first;
    expect([returned.status, other.status, scheduler.running]).toEqual([503, 200, 1]);
    expect(new TextDecoder().decode((await returned.body!.getReader().read()).value)).toBe('denied');
    expect(cancel).not.toHaveBeenCalled();
    await other.text();
  });

  test('leaves no listener on its signal', async () => {
    const { signal } = new AbortController();
    const { limited, time } = scene([denied().answer]);
    const answer = limited(url, { signal });
    await time.pass(0);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await time.pass(1000);
    await (await answer).text();
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('is not, if it was aborted when its answer came', async () => {
    const leaving = new AbortController();
    const { limited, time, sentMs } = scene([denied().answer]);
    const failed = limited(url, { signal: leaving.signal }).catch((error: unknown) => String(error));
    leaving.abort(new Error('left'));
    expect([await failed, sentMs.length, time.nowMs, time.pending]).toEqual(['Error: left', 1, 0, 0]);
  });
});
