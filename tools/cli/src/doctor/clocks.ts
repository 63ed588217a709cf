import type { Time } from '@sluice/core';
import { messageOf } from '@sluice/core/kit';
import type { Redis } from 'ioredis';
import { Check, type Finding } from './finding.ts';

/** Clocks that are synchronized differ by less. */
const MOST_MS = 60_000;

/** Compares the clock of a server, by which limits are decided, with that of this process. */
export async function clock(node: Redis, time: Time): Promise<Finding> {
  const check = new Check('clock');
  try {
    const before = time.wallNow();
    const [seconds = '0', micros = '0'] = (await node.time()).map(String);
    const after = time.wallNow();
    const aheadMs = Number(seconds) * 1000 + Number(micros) / 1000 - (before + after) / 2;
    const found = `${Math.abs(aheadMs) < 1000 ? 'within a second of' : `${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`} this process`;
    if (Math.abs(aheadMs) <= MOST_MS) return check.ok(found);
    return check.wrong(found, 'Quotas and overrides begin and end by it. Synchronize both clocks (NTP).');
  } catch (error) {
    return check.note(`not known: ${messageOf(error)}`);
  }
}
