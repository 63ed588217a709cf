import type { Store } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import { clockCases, schedulingCases } from './cases.ts';

/** Runs all cases on stores of a server, whose clock a test gives, as that of the process. */
export function scheduledOn(storeAt: (serverTime: FakeTime, time: FakeTime) => Store): void {
  test.each(schedulingCases)('$name', async ({ run }) => {
    const time = new FakeTime();
    await expect(run({ store: storeAt(time, time), time, advance: (ms) => time.advance(ms) })).resolves.toBeUndefined();
  });

  test.each(clockCases)('$name', async ({ run }) => {
    const [time, ofServer] = [new FakeTime(), new FakeTime()];
    const advance = (ms: number): void => {
      ofServer.advance(ms);
      time.advance(ms);
    };
    const step = (ms: number): void => ofServer.set(ofServer.nowMs + ms);
    await expect(run({ store: storeAt(ofServer, time), time, advance, step })).resolves.toBeUndefined();
  });
}
