import { accountId, createLimiter, type Time } from '@sluice/core';
import { afterEach, expect, test, vi } from 'vitest';

/** The time of a test runner that fakes `Date` and timers. */
const fakedTime: Time = {
  nowMicros: () => Date.now() * 1000,
  wallNow: () => Date.now(),
  alarm(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return { ref() {}, unref() {}, cancel: () => clearTimeout(timer) };
  },
  endOfTurn(run) {
    const timer = setTimeout(run, 0);
    return () => clearTimeout(timer);
  },
};

afterEach(() => void vi.useRealTimers());

test('an account may send one mail a minute', async () => {
  vi.useFakeTimers();
  const limiter = createLimiter({
    limits: { Mails: { key: accountId(), count: 1, period: '1m' } },
    time: fakedTime,
  });
  const send = () => limiter.spend([{ limit: 'Mails', id: '12345678' }]);

  expect((await send()).allowed).toBe(true);
  expect((await send()).allowed).toBe(false);
  vi.advanceTimersByTime(60_000);
  expect((await send()).allowed).toBe(true);
});
