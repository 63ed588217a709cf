import type { Command } from '../console/command.ts';
import type { Bucket } from '../limits/bucket.ts';
import {
  AUDIT_OPTIONS,
  BUCKET_OPTIONS,
  BUCKET_WORDS,
  bucketExample,
  COST_OPTION,
  costOf,
  LIMIT_FILE_OPTIONS,
} from './words.ts';

/** `sluice charge`: takes tokens from a bucket. */
export const charge: Command = {
  about: [
    'Takes tokens from the bucket of an id, whether they fit or not: at most up to an empty bucket, or to the maxDebt of ',
    'the limit. Shows what is left. Every call takes them again.',
  ].join(''),
  args: BUCKET_WORDS,
  options: [...BUCKET_OPTIONS, COST_OPTION, ...AUDIT_OPTIONS, ...LIMIT_FILE_OPTIONS],
  example: bucketExample('charge --cost 5'),
  async run(call) {
    const cost = costOf(call);
    const { withBucket } = await import('../limits/bucket.ts');
    return withBucket(
      call,
      async (bucket) => {
        const before = await chargeable(bucket);
        const states = await bucket.change(
          (limiter, name) => limiter.charge([{ ...name, cost }]),
          'Look at the bucket with sluice peek before you repeat it.',
        );
        const figures = await bucket.figures();
        const charged = states.length > 0 ? Math.min(cost, before) : 0;
        const nothing = `Charged nothing, because the id is ${figures.state}.`;
        call.console.note(states.length > 0 ? chargedText(charged, cost) : nothing);
        return { figures, result: { charged, bucket: figures } };
      },
      'charge',
    );
  },
};

function chargedText(charged: number, cost: number): string {
  return charged === cost ? `Charged ${cost}.` : `Charged ${charged} of ${cost}: there were no more tokens.`;
}

/** Returns the tokens that can be charged: those in the bucket, and the debt that is left. */
async function chargeable(bucket: Bucket): Promise<number> {
  const { state, remaining, burst, resetAfterMs } = await bucket.figures();
  const rate = await bucket.rate();
  if (state !== 'counted' || rate === undefined || rate.maxDebt === 0) return remaining;
  // A bucket in debt needs longer than an empty one until it is full.
  return Math.max(0, Math.floor(burst - resetAfterMs / rate.tokenMs + 1e-6) + rate.maxDebt);
}
