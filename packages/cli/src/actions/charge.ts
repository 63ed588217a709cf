import type { Call } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { namedBucket } from '../limits/named-bucket.ts';
import { explanationOf } from '../limits/explanation.ts';
import { figuresLines, figuresOf, type AskedBucket } from '../limits/figures.ts';
import { costOf } from '../redis/cost.ts';
import { withLimits, type OpenLimits } from '../redis/open-limits.ts';
import { made } from '../redis/unknown-outcome.ts';

/** Runs `sluice charge`. */
export async function runCharge(call: Call): Promise<number> {
  const cost = costOf(call);
  const { loaded, limit, id } = await namedBucket(call);
  return withLimits(loaded, call, async (open) => {
    const { limiter, check } = open;
    const bucket = { loaded, limiter, limit, id, cost: 1 };
    const before = await tokensOf(bucket, open);
    const isCharged = await made(async () => {
      const states = await limiter.charge([{ limit, id, cost }]);
      check();
      return states.length > 0;
    }, 'Look at the bucket with sluice peek before you repeat it.');
    const figures = await figuresOf(bucket);
    const charged = isCharged ? Math.min(cost, before) : 0;
    call.console.note(isCharged ? chargedText(charged, cost) : `Charged nothing, because the id is ${figures.state}.`);
    call.console.result({ charged, bucket: figures }, () => figuresLines(figures));
    return EXIT.fine;
  });
}

function chargedText(charged: number, cost: number): string {
  return charged === cost ? `Charged ${cost}.` : `Charged ${charged} of ${cost}: there were no more tokens.`;
}

/** Returns the tokens that can be charged: those in the bucket, and the debt that is left. */
async function tokensOf(bucket: AskedBucket, { limiter, keyOptions }: OpenLimits): Promise<number> {
  const { loaded, limit, id } = bucket;
  const { state, remaining, burst, resetAfterMs } = await figuresOf(bucket);
  const { rate } = await explanationOf(limiter, { loaded, name: limit, text: id, keyOptions });
  if (state !== 'counted' || rate === undefined || rate.maxDebt === 0) return remaining;
  // A bucket in debt needs longer than an empty one until it is full.
  return Math.max(0, Math.floor(burst - resetAfterMs / rate.tokenMs + 1e-6) + rate.maxDebt);
}
