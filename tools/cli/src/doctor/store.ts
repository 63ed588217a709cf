import { SluiceError } from '@sluice/core';
import type { Call } from '../console/command.ts';
import { withFlags } from '../console/failure.ts';
import { withLimits } from '../redis/open-limits.ts';
import { Check, type Finding } from './finding.ts';
import { LIMITS, roundTrips } from './round-trips.ts';

/** What the store itself can do there. */
export async function ofStore(call: Call, deadlineMs: number): Promise<readonly Finding[]> {
  const check = new Check('store');
  try {
    return await withLimits(LIMITS, call, async (open) => [
      await roundTrips(open, { deadlineMs, time: call.console.time }),
      check.ok('it can decide'),
    ]);
  } catch (error) {
    if (!(error instanceof SluiceError) || error.kind !== 'store') throw error;
    return [check.wrong('it can not decide', withFlags(error.message))];
  }
}
