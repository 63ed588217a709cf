import type { Call } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { explanationOf } from '../limits/explanation.ts';
import { namedBucket } from '../limits/named-bucket.ts';
import { figuresLines, figuresOf, type AskedBucket, type Figures } from '../limits/figures.ts';
import { costOf } from '../redis/cost.ts';
import { withLimits, type OpenLimits } from '../redis/open-limits.ts';
import { made } from '../redis/unknown-outcome.ts';

const MOST = 1_000_000_000;

/** Runs `sluice refund`. */
export async function runRefund(call: Call): Promise<number> {
  const cost = costOf(call);
  const upTo =
    call.text('upTo') === undefined ? undefined : call.wholeNumber('upTo', { min: 1, max: MOST, unset: MOST });
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
  /** Undefined for as much as the bucket lacks. */
  readonly upTo: number | undefined;
}

/** Gives tokens back, and returns how many. */
async function refundTo(
  { loaded, limit, id }: AskedBucket,
  { limiter, check, keyOptions }: OpenLimits,
  { before, cost, upTo }: Wanted,
): Promise<number> {
  if (before.state !== 'counted') return 0;
  const missing = Math.min(upTo ?? Infinity, before.burst) - before.remaining;
  const { rate } = await explanationOf(limiter, { loaded, name: limit, text: id, keyOptions });
  // An empty bucket may be in debt, which can be given back, too.
  const debt = before.remaining === 0 && upTo === undefined ? (rate?.maxDebt ?? 0) : 0;
  const tokens = Math.min(cost, missing + debt);
  if (tokens <= 0) return 0;
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
