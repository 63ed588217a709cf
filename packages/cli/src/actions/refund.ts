import type { Call } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { namedBucket } from '../limits/named-bucket.ts';
import { figuresLines, figuresOf, type AskedBucket, type Figures } from '../limits/figures.ts';
import { costOf } from '../redis/cost.ts';
import { withLimits, type OpenLimits } from '../redis/open-limits.ts';
import { made } from '../redis/unknown-outcome.ts';

const MOST = 1_000_000_000;

/** Runs `sluice refund`. */
export async function runRefund(call: Call): Promise<number> {
  const cost = costOf(call);
  const upTo = call.wholeNumber('upTo', { min: 1, max: MOST, unset: MOST });
  const { loaded, limit, id } = await namedBucket(call);
  return withLimits(loaded, call, async (open) => {
    const bucket = { loaded, limiter: open.limiter, limit, id, cost: 1 };
    const before = await figuresOf(bucket);
    const refunded = await refundTo(bucket, open, { before, cost, upTo });
    const figures = refunded === 0 ? before : await figuresOf(bucket);
    call.console.note(refunded > 0 ? `Gave back ${refunded}.` : `Gave back nothing: ${whyNothing(before)}.`);
    call.console.result({ refunded, before: before.remaining, bucket: figures }, () => figuresLines(figures));
    return EXIT.fine;
  });
}

interface Wanted {
  readonly before: Figures;
  readonly cost: number;
  readonly upTo: number;
}

/** Gives tokens back, and returns how many. */
async function refundTo(
  { limit, id }: AskedBucket,
  { limiter, check }: OpenLimits,
  { before, cost, upTo }: Wanted,
): Promise<number> {
  const missing = Math.min(upTo, before.burst) - before.remaining;
  // An empty bucket may be in debt, which also can be given back.
  const tokens = Math.min(cost, before.remaining === 0 ? upTo : missing);
  if (tokens <= 0 || before.state !== 'counted') return 0;
  const goal = Math.min(before.burst, before.remaining + tokens);
  await made(async () => {
    await limiter.refund([{ limit, id, cost: tokens }]);
    check();
  }, `Repeat it with --up-to ${goal}, which gives back only what is missing.`);
  return tokens;
}

function whyNothing({ state, remaining, burst }: Figures): string {
  if (state !== 'counted') return `the id is ${state}`;
  return remaining === burst ? 'the bucket is full' : `there are ${remaining} tokens already`;
}
