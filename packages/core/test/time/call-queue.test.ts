import { expect, test } from 'vitest';
import { CallQueue } from '../../src/time/call-queue.ts';
import type { Wait } from '../../src/time/deadline-queue.ts';

interface NamedCall extends Wait {
  readonly name: number;
}

function call(name: number): NamedCall {
  return { name, dueMicros: 0, isIn: true, before: undefined, after: undefined, miss: () => undefined };
}

function queueOf(count: number): { readonly queue: CallQueue<NamedCall>; readonly calls: readonly NamedCall[] } {
  const queue = new CallQueue<NamedCall>();
  const calls = Array.from({ length: count }, (_, name) => call(name));
  for (const each of calls) queue.add(each);
  return { queue, calls };
}

test('calls are taken in the order of their arrival, without those that do not wait any more', () => {
  const { queue, calls } = queueOf(4);
  calls[0]!.isIn = false;
  calls[2]!.isIn = false;
  expect([queue.first, queue.take(), queue.take(), queue.take()]).toEqual([calls[1], calls[1], calls[3], undefined]);
  expect(queue.size).toBe(0);
});

test('calls can be taken from the youngest, without those that do not wait any more', () => {
  const { queue, calls } = queueOf(4);
  calls[0]!.isIn = false;
  calls[3]!.isIn = false;
  expect([queue.last, queue.takeLast(), queue.takeLast(), queue.takeLast()]).toEqual([
    calls[2],
    calls[2],
    calls[1],
    undefined,
  ]);
  expect(queue.size).toBe(0);
});

test('calls that are put back come before all others', () => {
  const { queue, calls } = queueOf(3);
  const taken = [queue.take()!, queue.take()!];
  queue.addFirst(taken);
  expect([...queue].map(({ name }) => name)).toEqual([0, 1, 2]);
  expect(queue.take()).toBe(calls[0]);
});

test('calls that do not wait any more are removed, so that a queue which nobody takes from stays small', () => {
  const { queue, calls } = queueOf(1024);
  for (const each of calls.slice(0, 1000)) each.isIn = false;
  queue.add(call(1024));
  expect(queue.size).toBe(25);
});
