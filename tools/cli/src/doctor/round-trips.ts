import { everyone, type Awaitable, type Time } from '@sluice/core';
import type { LoadedLimits } from '@sluice/config';
import type { OpenLimits } from '../redis/open-limits.ts';
import { Check, type Finding } from './finding.ts';

const NAME = 'SluiceDoctor';
/** The first ones are slower, because the code is new. */
const [UNCOUNTED, ROUNDS] = [100, 200];

/** A limit that nobody has. Its bucket is only looked at, so that there is none. */
export const LIMITS: Pick<LoadedLimits, 'limits'> = {
  limits: { [NAME]: { key: everyone(), count: 1, period: '1s' } },
};

/** What is measured, and by what. */
interface Measured {
  readonly deadlineMs: number;
  readonly time: Time;
}

/**
 * Measures decisions that take nothing, one after another, against the deadline of the servers.
 *
 * @throws {SluiceError} If Redis could not decide.
 */
export async function roundTrips(open: OpenLimits, measured: Measured): Promise<Finding> {
  const found = await timesOf(() => open.limiter.check([{ limit: NAME, id: 'everyone' }]), measured);
  open.check();
  return found;
}

/** Measures calls, one after another, against the deadline of the servers. */
export async function timesOf(ask: () => Awaitable<unknown>, { deadlineMs, time }: Measured): Promise<Finding> {
  const check = new Check('round trip');
  const tookMs: number[] = [];
  for (let i = 0; i < UNCOUNTED + ROUNDS; i++) {
    const startMicros = time.nowMicros();
    // oxlint-disable-next-line no-await-in-loop -- one after another
    await ask();
    tookMs.push((time.nowMicros() - startMicros) / 1000);
  }
  const sorted = tookMs.slice(UNCOUNTED).toSorted((a, b) => a - b);
  const [median = 0, slow = 0] = [0.5, 0.99].map((part) => sorted[Math.floor(part * ROUNDS)]);
  const found = `${median.toFixed(1)} ms, p99 ${slow.toFixed(1)} ms of ${deadlineMs} ms`;
  if (slow <= deadlineMs / 3) return check.ok(found);
  const least = Math.ceil(3 * slow);
  return check.wrong(
    found,
    `Set \`failure.deadlineMs\` to three times the slowest, ${least} ms, or bring the server nearer.`,
  );
}
