import { describe, expect, test } from 'vitest';
import { LastingSignal } from '../../../src/kinds/load/lasting.ts';

const ramp = { calm: 0.7, busy: 0.8, riseMs: 3000, fallMs: 60_000 };

/** After how many readings, 50 ms apart, a signal is one that lasts; Infinity when it never is. */
function readingsUntilLasting(signal: number, lasting = new LastingSignal(ramp)): number {
  for (let count = 1; count <= 10_000; count++) if (lasting.add(signal, 50)) return count;
  return Infinity;
}

describe('a signal that lasts', () => {
  test.each([
    { signal: 1, ms: 1000 },
    { signal: 0.9, ms: 2000 },
    { signal: 0.85, ms: 4000 },
    { signal: 0.5, ms: 1000 },
    { signal: 0.6, ms: 2000 },
    { signal: 0.65, ms: 4000 },
    { signal: 0, ms: 300 },
  ])('is $signal after $ms ms', ({ signal, ms }) => {
    expect(readingsUntilLasting(signal) * 50).toBe(ms);
  });

  test.each([0.7, 0.75, 0.8])('is never one of %d, between calm and busy', (signal) => {
    expect(readingsUntilLasting(signal)).toBe(Infinity);
  });

  test('is none that is above busy as far and as often as below', () => {
    const lasting = new LastingSignal(ramp);
    const seen = Array.from({ length: 1000 }, (_, i) => lasting.add(i % 2 === 0 ? 0.84 : 0.72, 250));
    expect(seen.some(Boolean)).toBe(false);
  });

  test('ends with the first reading on the other side, also after a long time', () => {
    const lasting = new LastingSignal(ramp);
    for (let i = 0; i < 1000; i++) lasting.add(1, 250);
    expect(lasting.add(0.75, 250)).toBe(false);
    expect(readingsUntilLasting(0.5, lasting)).toBe(20);
  });

  test('is the same for few readings and for many', () => {
    const [few, many] = [new LastingSignal(ramp), new LastingSignal(ramp)];
    expect(few.add(1, 999)).toBe(false);
    for (let i = 0; i < 999; i++) expect(many.add(1, 1)).toBe(false);
    expect([few.add(1, 1), many.add(1, 1)]).toEqual([true, true]);
  });
});
