import type { LimiterEvent } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import type { LoadSource, LoadUse } from '../../../src/kinds/load/load-source.ts';

/** A source that one limit uses, on a time that does not move by itself, and what it has reported. */
export function used(source: LoadSource, { limit = 'Worker', time = new FakeTime(1e12) } = {}) {
  const events: LimiterEvent[] = [];
  const use: LoadUse = source.start({ limit, time, emit: (event) => void events.push(event) });
  return { time, use, events };
}

/** The levels after each of some steps of 250 ms. */
export function levels(source: LoadSource, time: FakeTime, ms: number): number[] {
  return Array.from({ length: ms / 250 }, () => {
    time.advance(250);
    return source.level;
  });
}

/** How often levels that rose began to fall, or the other way round. */
export function turns(seen: readonly number[]): number {
  const moves = seen.map((level, i) => Math.sign(level - (seen[i - 1] ?? 0))).filter((move) => move !== 0);
  return moves.filter((move, i) => i > 0 && move !== moves[i - 1]).length;
}
