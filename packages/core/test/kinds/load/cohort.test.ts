import { describe, expect, test } from 'vitest';
import { cohortLeftMs, cohortOf } from '../../../src/kinds/load/cohort.ts';

const NOW = Date.UTC(2026, 0, 31, 12, 0, 17);
const MINUTE = 60_000;

/** Ids as they come in practice: numbers in a row, addresses of a network, names. */
const ids = [
  ...Array.from({ length: 50_000 }, (_, i) => `${12_000_000 + i}`),
  ...Array.from({ length: 25_000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`),
  ...Array.from({ length: 25_000 }, (_, i) => `user-${i}@例え.jp`),
];

describe('the cohort of a client', () => {
  test('is even over 100,000 ids: each part is shed within 1 %', () => {
    const cohorts = ids.map((id) => cohortOf(id, NOW));
    expect(cohorts.every((cohort) => cohort >= 0 && cohort < 1)).toBe(true);
    const sorted = Float64Array.from(cohorts).toSorted();
    for (let percent = 1; percent < 100; percent++) {
      // The highest cohort of this part of all clients.
      const highest = sorted[percent * (ids.length / 100) - 1]!;
      expect(Math.abs(highest - percent / 100)).toBeLessThan(0.01);
    }
  });

  test('passes a chi-squared test of evenness for every kind of id', () => {
    for (const kind of [ids.slice(0, 50_000), ids.slice(50_000, 75_000), ids.slice(75_000)]) {
      const counts = new Map(Array.from({ length: 100 }, (_, cell) => [cell, 0]));
      for (const id of kind) {
        const cell = Math.floor(cohortOf(id, NOW) * 100);
        counts.set(cell, counts.get(cell)! + 1);
      }
      const mean = kind.length / 100;
      const chiSquared = [...counts.values()].reduce((sum, count) => sum + (count - mean) ** 2 / mean, 0);
      // 99 degrees of freedom: 161 is exceeded once in 10,000 times.
      expect(chiSquared).toBeLessThan(161);
    }
  });

  test('stays the same until its minute ends, and is another one afterwards', () => {
    for (const id of ids.slice(0, 1000)) {
      const leftMs = cohortLeftMs(id, NOW);
      const [now, last, next] = [0, leftMs - 1, leftMs].map((ms) => cohortOf(id, NOW + ms));
      expect(last).toBe(now);
      expect(next).not.toBe(now);
      expect(cohortLeftMs(id, NOW + leftMs)).toBe(MINUTE);
    }
  });

  test('changes at times that are spread over the minute', () => {
    const changed = (seconds: number): number =>
      ids.filter((id) => cohortOf(id, NOW + seconds * 1000) !== cohortOf(id, NOW)).length / ids.length;
    for (const seconds of [1, 15, 30, 59]) expect(Math.abs(changed(seconds) - seconds / 60)).toBeLessThan(0.01);
  });

  test('does not depend on when its minute begins', () => {
    const late = ids.filter((id) => cohortLeftMs(id, NOW) < MINUTE / 10);
    const shed = late.filter((id) => cohortOf(id, NOW) < 0.5).length / late.length;
    expect(Math.abs(shed - 0.5)).toBeLessThan(0.02);
  });

  test('is even over the minutes of one client, too, and independent of the minute before', () => {
    for (const id of ids.slice(0, 20)) {
      const shed = Array.from({ length: 10_000 }, (_, i) => cohortOf(id, NOW + i * MINUTE) < 0.5);
      const again = shed.filter((was, i) => was && (shed[i + 1] ?? false)).length;
      expect(Math.abs(shed.filter(Boolean).length / shed.length - 0.5)).toBeLessThan(0.03);
      expect(Math.abs(again / shed.length - 0.25)).toBeLessThan(0.03);
    }
  });

  // The processes of a service shed the same clients: a page whose parts come from several of them is whole or absent.
  test('is the same in every process and version', () => {
    const shown = ['12345678', '203.0.113.7', '日本'].map((id) => cohortOf(id, NOW).toFixed(6));
    expect(shown).toEqual(['0.061064', '0.771604', '0.599744']);
  });

  test.each([-1, 0, 1, -MINUTE, 1e15])('has an end within the next minute at %d ms', (nowMs) => {
    for (const id of ids.slice(0, 100)) {
      expect(cohortLeftMs(id, nowMs)).toBeGreaterThan(0);
      expect(cohortLeftMs(id, nowMs)).toBeLessThanOrEqual(MINUTE);
    }
  });
});
