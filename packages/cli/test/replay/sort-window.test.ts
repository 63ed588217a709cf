import { describe, expect, it } from 'vitest';
import { Second, SortWindow } from '../../src/replay/order/sort-window.ts';

const TARGET = { route: 0, cost: 1, applies: [true] };

describe('SortWindow', () => {
  it('passes on requests early when it has more than 400,000, and says so', () => {
    const passed: Second[] = [];
    const window = new SortWindow((second) => passed.push(second));
    for (let i = 0; i <= 400_000; i++) window.take((i % 5) * 1_000_000 + (i >> 3), [null], TARGET, 200, 0);
    expect(window.wasFull).toBe(true);
    expect(passed.map(({ startMicros }) => startMicros)).toEqual([0, 1_000_000, 2_000_000]);
    // The rest of a second that was passed on in part is still taken; a second before it is not.
    window.take(2_500_000, [null], TARGET, 200, 0);
    window.take(1_500_000, [null], TARGET, 200, 0);
    expect(window.late).toBe(1);
    window.passUntil(Infinity);
    expect(passed.map(({ startMicros }) => startMicros / 1e6)).toEqual([0, 1, 2, 2, 3, 4]);
    expect(passed.reduce((sum, { size }) => sum + size, 0)).toBe(400_002);
  });

  it('has not been full when there were few requests, and leaves out those of seconds that were passed on', () => {
    const passed: Second[] = [];
    const window = new SortWindow((second) => passed.push(second));
    for (const micros of [1_700_000, 1_200_000, 1_200_000]) window.take(micros, [null], TARGET, micros % 7, 0);
    window.passUntil(2_000_000);
    window.passUntil(1_000_000);
    window.take(1_300_000, [null], TARGET, 200, 0);
    expect(passed.map(({ micros }) => micros)).toEqual([[1_200_000, 1_200_000, 1_700_000]]);
    expect(window).toMatchObject({ late: 1, wasFull: false });
  });
});
