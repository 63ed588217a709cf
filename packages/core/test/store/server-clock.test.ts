import { describe, expect, test } from 'vitest';
import { ServerClock } from '../../src/store/server-clock.ts';

const LEAD = 1_000_000;

/** A clock that has been read: sent, read by the server after `there`, got after `back` more. */
function read(clock: ServerClock, sentTicks: number, there: number, back: number, lead = LEAD): void {
  clock.learn({ sentTicks, gotTicks: sentTicks + there + back, serverTicks: sentTicks + there + lead });
}

describe('the estimate of a server’s clock', () => {
  test('is unknown before the first answer, and when it is forgotten', () => {
    const clock = new ServerClock();
    expect(clock.uncertaintyMs).toBeUndefined();
    read(clock, 0, 10, 20);
    expect(clock.uncertaintyMs).toBeGreaterThan(0);
    clock.forget();
    expect(clock.uncertaintyMs).toBeUndefined();
  });

  test('is never too late: by one answer it is off by the way back', () => {
    const clock = new ServerClock();
    read(clock, 0, 10, 20);
    expect(clock.notAfter(5000)).toBe(5000 + LEAD - 20);
    expect(clock.uncertaintyMs).toBe(30 / 16_000);
  });

  test('keeps the best of both ends of all answers', () => {
    const clock = new ServerClock();
    read(clock, 0, 10, 20);
    read(clock, 100, 90, 5);
    read(clock, 300, 2, 800);
    expect(clock.notAfter(0)).toBe(LEAD - 5);
    expect(clock.uncertaintyMs).toBe(7 / 16_000);
  });

  test.each([
    ['ahead', 160_000],
    ['back', -160_000],
  ])('begins anew with the answer of a clock that was set %s', (_, step) => {
    const clock = new ServerClock();
    read(clock, 0, 10, 20);
    read(clock, 1000, 15, 25, LEAD + step);
    expect(clock.notAfter(0)).toBe(LEAD + step - 25);
    expect(clock.uncertaintyMs).toBe(40 / 16_000);
  });

  test('is never too late by more than the way there, while a clock drifts back', () => {
    const clock = new ServerClock();
    for (let second = 0; second < 1000; second++) {
      const lead = LEAD - second * 20;
      read(clock, second * 16_000_000, 1600, 1600, lead);
      expect(clock.notAfter(0) - lead).toBeLessThanOrEqual(1600);
    }
  });
});
