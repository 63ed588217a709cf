import { expect, test } from 'vitest';
import { TurnHeap, type Turn } from '../../src/time/turn-heap.ts';

/** Adds turns at these times, and returns them in the same order. */
function heapOf(...times: number[]): { heap: TurnHeap<Turn>; turns: Turn[] } {
  const heap = new TurnHeap<Turn>();
  const turns = times.map((dueMicros) => ({ dueMicros, place: -1 }));
  for (const turn of turns) heap.add(turn);
  return { heap, turns };
}

/** Removes the first turn again and again. */
function inOrder(heap: TurnHeap<Turn>): number[] {
  const times: number[] = [];
  for (let turn = heap.first; turn !== undefined; turn = heap.first) {
    times.push(turn.dueMicros);
    heap.delete(turn);
  }
  return times;
}

test('the turns come in the order of their times, whatever the order in which they were added', () => {
  expect(inOrder(heapOf(5, 1, 4, 2, 3).heap)).toEqual([1, 2, 3, 4, 5]);
  expect(inOrder(heapOf(7, 6, 5, 4, 3, 2, 1).heap)).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

test.each([0, 1, 2, 3, 4, 5, 6])('the others stay in order when turn %i is removed', (removed) => {
  // The last turn is earlier than those of the left half, so that it moves up when it takes the place of one of them.
  const times = [1, 10, 2, 11, 12, 3, 4];
  const { heap, turns } = heapOf(...times);
  heap.delete(turns[removed]!);
  expect(turns[removed]!.place).toBe(-1);
  expect(inOrder(heap)).toEqual(times.filter((_, i) => i !== removed).toSorted((one, other) => one - other));
});

test('a turn stays where it is when it is due before those below it', () => {
  const { heap, turns } = heapOf(1, 2, 5, 9, 3);
  heap.delete(turns[0]!);
  expect(heap.first).toBe(turns[1]);
  heap.delete(turns[3]!);
  expect(inOrder(heap)).toEqual([2, 3, 5]);
});

test('all turns are removed together, and know that they are in no heap', () => {
  const { heap, turns } = heapOf(2, 1, 3);
  expect(new Set(heap.clear())).toEqual(new Set(turns));
  expect(turns.map(({ place }) => place)).toEqual([-1, -1, -1]);
  expect(heap.first).toBeUndefined();
});
