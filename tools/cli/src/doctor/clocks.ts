import type { Time } from '@sluice/core';
import { messageOf } from '@sluice/core/kit';
import type { Redis } from 'ioredis';
import { Check, type Finding } from './finding.ts';

/** Clocks that are synchronized differ by less. */
const MOST_MS = 60_000;
const CHECK = new Check('clock');

/**
 * Compares the clock of a server, by which limits are decided, with that of this process.
 *
 * @param aheadMs - How far it is ahead; negative if it is behind.
 */
export function clockFinding(aheadMs: number): Finding {
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  const apart = seconds < 1 ? 'within a second of' : `${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
  const found = `${apart} this process`;
  if (Math.abs(aheadMs) <= MOST_MS) return CHECK.ok(found);
  return CHECK.wrong(found, 'Quotas and overrides begin and end by it. Synchronize both clocks (NTP).');
}

/** Asks a Redis server for its clock. */
export async function clock(node: Redis, time: Time): Promise<Finding> {
  try {
    const before = time.wallNow();
    const [seconds = '0', micros = '0'] = (await node.time()).map(String);
    const after = time.wallNow();
    return clockFinding(Number(seconds) * 1000 + Number(micros) / 1000 - (before + after) / 2);
  } catch (error) {
    return CHECK.note(`not known: ${messageOf(error)}`);
  }
}
