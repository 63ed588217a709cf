import type { Limit } from '../../packages/core/src/limits/limit.ts';
import type { Step } from './core.ts';

/** A moment of a curve: how many tokens a bucket has; below zero while requests wait for those to come. */
export interface Point {
  readonly atMs: number;
  readonly tokens: number;
}

/** The tokens of one bucket over time. Between requests they come back at one rate, until the bucket is full. */
export function curveOf({ rate }: Limit, index: number, steps: readonly Step[], endMs: number): readonly Point[] {
  const tokenMs = rate.periodMs / rate.count;
  const tokensOf = (levelMs: number): number => rate.burst - levelMs / tokenMs;
  const points: Point[] = [{ atMs: 0, tokens: rate.burst }];
  let [levelMs, atMs] = [0, 0];
  const passTo = (nextMs: number): void => {
    if (levelMs > 0 && atMs + levelMs < nextMs) points.push({ atMs: atMs + levelMs, tokens: rate.burst });
    levelMs = Math.max(0, levelMs - (nextMs - atMs));
    atMs = nextMs;
    points.push({ atMs, tokens: tokensOf(levelMs) });
  };
  for (const step of steps) {
    const left = step.left[index];
    if (left === undefined || left === null) continue;
    passTo(step.atMs);
    levelMs = left.fullAfterMs;
    points.push({ atMs, tokens: tokensOf(levelMs) });
  }
  passTo(endMs);
  return points;
}

/** The tokens of a curve at a moment. */
export function tokensAt(curve: readonly Point[], atMs: number): number {
  const next = curve.findIndex((point) => point.atMs > atMs);
  const before = curve.at(next === -1 ? -1 : next - 1) ?? curve[0]!;
  const after = next === -1 ? before : curve[next]!;
  if (after.atMs === before.atMs) return before.tokens;
  const part = (atMs - before.atMs) / (after.atMs - before.atMs);
  return before.tokens + part * (after.tokens - before.tokens);
}
