import { accountId, createLimiter, type Rate } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';

/** One line of a log: the client, and the time in milliseconds since 1970. */
export interface Entry {
  id: string;
  atMs: number;
}

/** Replays a log, sorted by time, against a limit, and returns the entries that it would have denied. */
export async function refusedBy(numbers: Rate, log: readonly Entry[]): Promise<Entry[]> {
  const time = new FakeTime(log[0]?.atMs);
  const limits = { Replay: { key: accountId(), ...numbers } };
  const limiter = createLimiter({ limits, time });

  const refused: Entry[] = [];
  for (const entry of log) {
    time.set(entry.atMs);
    const decision = await limiter.spend([{ limit: 'Replay', id: entry.id }]);
    if (!decision.allowed) refused.push(entry);
  }
  return refused;
}
