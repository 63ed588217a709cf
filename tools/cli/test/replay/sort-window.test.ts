import { describe, expect, it } from 'vitest';
import { SortWindow } from '../../src/replay/order/sort-window.ts';
import { sized } from '../../../../test/sized.ts';

const SECONDS = sized(100, 300);
const TARGET = { route: 0, cost: 1, applies: [true] };

/** What was passed on of a second. */
interface Passed {
  readonly startMicros: number;
  readonly micros: readonly number[];
  readonly ids: readonly string[];
  readonly statuses: readonly number[];
}

/** A window whose packed fields are ids, and a list of what it has passed on. */
function windowWithOutput(): { window: SortWindow; passed: Passed[] } {
  const passed: Passed[] = [];
  const hash = 0;
  const window = new SortWindow(
    (packed, start, end) => [{ text: packed.toString('latin1', start, end), hash, row: -1 }],
    (second) => {
      const all = Array.from({ length: second.size }, (_, i) => second.request(i));
      expect(all.map((_, i) => second.microsOf(i))).toEqual(all.map(({ micros }) => micros));
      for (const { micros, durationMicros } of all) expect([0, micros / 2]).toContain(durationMicros);
      passed.push({
        startMicros: second.startMicros,
        micros: all.map(({ micros }) => micros),
        ids: all.map(({ identity }) => identity[0]!.text),
        statuses: all.map(({ status }) => status),
      });
    },
  );
  return { window, passed };
}

function take(window: SortWindow, micros: number, id: string, status = 200): void {
  const packed = Buffer.from(`${id} and what follows`);
  window.take(micros, packed, Buffer.byteLength(id), TARGET, status, micros / 2);
}

describe('SortWindow', () => {
  it('passes on requests early when they are more than 32 MB, and notes it', () => {
    const { window, passed } = windowWithOutput();
    const [long, packed] = ['x'.repeat(9974), Buffer.alloc(9974, 'x')];
    for (let i = 0; i <= 3200; i++) window.take((i % 5) * 1e6 + (i >> 3), packed, packed.length, TARGET, 200, 0);
    expect(window.wasFull).toBe(true);
    expect(passed.map(({ startMicros }) => startMicros)).toEqual([0, 1_000_000, 2_000_000]);
    // The rest of a second that was passed on in part is still taken; a second before it is not.
    take(window, 2_500_000, long);
    take(window, 1_500_000, long);
    expect(window.late).toBe(1);
    window.passUntil(Infinity);
    expect(passed.map(({ startMicros }) => startMicros / 1e6)).toEqual([0, 1, 2, 2, 3, 4]);
    expect(passed.reduce((sum, { micros }) => sum + micros.length, 0)).toBe(3202);
    expect(passed.every(({ ids }) => ids.every((id) => id === long))).toBe(true);
  });

  it('has not been full when there were few requests, and leaves out those of seconds that were passed on', () => {
    const { window, passed } = windowWithOutput();
    take(window, 1_700_000, 'c');
    take(window, 1_200_000, 'a', 404);
    take(window, 1_200_000, 'b');
    window.passUntil(2_000_000);
    window.passUntil(1_000_000);
    take(window, 1_300_000, 'late');
    expect(passed).toEqual([
      { startMicros: 1e6, micros: [1.2e6, 1.2e6, 1.7e6], ids: ['a', 'b', 'c'], statuses: [404, 200, 200] },
    ]);
    expect(window).toMatchObject({ late: 1, wasFull: false });
  });

  it('has the same requests in seconds of any size, one after the other', () => {
    const { window, passed } = windowWithOutput();
    const ids = (second: number): string[] =>
      Array.from({ length: (second * 7919) % 200 }, (_, i) => `${second}:${i}`.repeat((i * second) % 5));
    for (let second = 0; second < SECONDS; second++) {
      for (const [i, id] of [...ids(second).entries()].toReversed()) take(window, second * 1e6 + i, id);
      window.passUntil((second - 3) * 1e6);
    }
    window.passUntil(Infinity);
    expect(passed.map((each) => each.ids)).toEqual(
      Array.from({ length: SECONDS }, (_, second) => ids(second)).filter(({ length }) => length > 0),
    );
  });
});
