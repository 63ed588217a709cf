import type { StoreOperation } from '@sluice/core';
import type { Deadlines } from '@sluice/core/kit';
import { expect, test } from 'vitest';
import { HostCall } from '../src/asking/host-call.ts';

test('a call that has an answer ignores all that comes later', () => {
  const seen: unknown[] = [];
  const ends = [true];
  const deadlines = { begin: () => {}, end: () => ends.pop() ?? false } as unknown as Deadlines;
  const call = new HostCall({
    operation: { kind: 'check' } as unknown as StoreOperation,
    deadlineMs: 50,
    deadlines,
    sink: {
      answered: (reading: unknown) => void seen.push(reading),
      failed: (error: unknown) => void seen.push(error),
    },
    onMiss: () => 'missed',
  });
  const reading = { nowTicks: 0, levelsTicks: [] } as never;
  call.answer(reading);
  call.answer(reading);
  call.fail(new Error('late'));
  call.expire();
  expect(seen).toEqual([reading]);
});
