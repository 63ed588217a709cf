import { describe, expect, test } from 'vitest';
import { ShareClasses } from '../../../src/kinds/load/classes.ts';
import { loadFrom } from '../../../src/kinds/load/sources.ts';
import { used } from './sampled.ts';

describe('what a source sheds', () => {
  const ids = Array.from({ length: 1000 }, (_, i) => `client-${i}`);

  test('is nothing at the level 0 and everything at 1', () => {
    let signal = 0;
    const source = loadFrom(() => signal);
    const { time, use } = used(source);
    expect(ids.some((id) => use.sheds(id, 0.01))).toBe(false);
    signal = 1;
    time.advance(20_000);
    expect(ids.every((id) => use.sheds(id, 1))).toBe(true);
  });

  test.each([0.25, 0.5, 0.75, 1])('only grows while the level rises: nobody with a share of %d comes back', (share) => {
    const source = loadFrom(() => 0.9, { classes: 4 });
    const classes = new ShareClasses(4);
    const { time, use } = used(source);
    const wall = time.wallNow();
    let before: readonly string[] = [];
    while (source.level < 1) {
      time.advance(250);
      time.setWall(wall);
      const shed = ids.filter((id) => use.sheds(id, share));
      expect(Math.abs(shed.length / ids.length - classes.shedPart(source.level, share))).toBeLessThan(0.05);
      expect(before.filter((id) => !use.sheds(id, share))).toEqual([]);
      before = shed;
    }
  });

  test('takes a class only when the one below is shed wholly', () => {
    const source = loadFrom(() => 1, { classes: 4 });
    const { time, use } = used(source);
    while (source.level < 0.6) time.advance(250);
    const shed = [0.25, 0.5, 0.75, 1].map((share) => ids.filter((id) => use.sheds(id, share)).length);
    expect(shed).toEqual([1000, 1000, expect.any(Number), 0]);
  });

  test('depends on the shares that requests have: without any, all clients are equal', () => {
    const source = loadFrom(() => 1);
    const { time, use } = used(source);
    while (source.level < 0.5) time.advance(250);
    const shedOf = (share: number): number => ids.filter((id) => use.sheds(id, share)).length;
    expect(shedOf(1)).toBeGreaterThan(450);
    expect(shedOf(0.8)).toBe(1000);
    expect(shedOf(1)).toBeLessThan(250);
  });

  test('is the same for a client until its minute ends', () => {
    const source = loadFrom(() => 1, { classes: 1 });
    const { time, use } = used(source);
    while (source.level < 0.5) time.advance(250);
    const shed = ids.filter((id) => use.sheds(id, 1));
    expect(shed.length).toBeGreaterThan(400);
    const leftMs = Math.min(...ids.map((id) => use.retryAfterMs(id)));
    time.setWall(time.wallNow() + leftMs - 1);
    expect(ids.filter((id) => use.sheds(id, 1))).toEqual(shed);
    time.setWall(time.wallNow() + 60_001);
    expect(ids.filter((id) => use.sheds(id, 1))).not.toEqual(shed);
  });

  test('waits are spread over the minute', () => {
    const { use } = used(loadFrom(() => 0));
    const waits = ids.map((id) => use.retryAfterMs(id));
    expect(Math.min(...waits)).toBeLessThan(1000);
    expect(Math.max(...waits)).toBeGreaterThan(59_000);
  });
});
