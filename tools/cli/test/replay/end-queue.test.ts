import { describe, expect, it } from 'vitest';
import { EndQueue } from '../../src/replay/deciding/end-queue.ts';
import { seededRandom } from './logs.ts';

describe('EndQueue', () => {
  it('returns values in the order of their ends, whatever is added in between', () => {
    const [queue, random] = [new EndQueue<number>(), seededRandom(1)];
    let waiting: number[] = [];
    for (let step = 0; step < 5000; step++) {
      if (waiting.length === 0 || random() < 0.55) {
        const end = Math.floor(random() * 300);
        queue.add(end, end);
        waiting.push(end);
        continue;
      }
      waiting = waiting.toSorted((a, b) => a - b);
      expect(queue.firstEnd).toBe(waiting[0]);
      expect(queue.take()).toBe(waiting.shift());
    }
    expect(queue.size).toBe(waiting.length);
    expect(waiting.length).toBeGreaterThan(200);
    for (const end of waiting.toSorted((a, b) => a - b)) expect(queue.take()).toBe(end);
    expect([queue.size, queue.firstEnd]).toEqual([0, Infinity]);
  });
});
