import type { Call, Command } from '../console/command.ts';
import type { Bucket } from '../limits/bucket.ts';
import type { Figures } from '../limits/figures.ts';
import {
  AUDIT_OPTIONS,
  BUCKET_OPTIONS,
  BUCKET_WORDS,
  bucketExample,
  COST_OPTION,
  costOf,
  LIMIT_FILE_OPTIONS,
  MAX_COST,
} from './words.ts';

/** `sluice refund`: gives tokens back to a bucket. */
export const refund: Command = {
  about: [
    'Gives tokens back to the bucket of an id, up to its burst. Shows what is left. To repeat it safely, give ',
    '--up-to what peek showed before, plus the cost: then a second call gives back nothing.',
  ].join(''),
  args: BUCKET_WORDS,
  options: [
    ...BUCKET_OPTIONS,
    COST_OPTION,
    { flags: '--up-to <tokens>', text: 'never fill the bucket above this number of tokens; default: its burst' },
    ...AUDIT_OPTIONS,
    ...LIMIT_FILE_OPTIONS,
  ],
  example: bucketExample('refund --cost 5'),
  async run(call) {
    const wanted = { cost: costOf(call), upTo: upToOf(call) };
    const { withBucket } = await import('../limits/bucket.ts');
    return withBucket(
      call,
      async (bucket) => {
        const before = await bucket.figures();
        const refunded = await refundTo(bucket, before, wanted);
        const figures = refunded === 0 ? before : await bucket.figures();
        call.console.note(refunded > 0 ? `Gave back ${refunded}.` : `Gave back nothing: ${whyNothing(before)}.`);
        return { figures, result: { refunded, before: before.remaining, bucket: figures } };
      },
      'refund',
    );
  },
};

interface Wanted {
  readonly cost: number;
  /** Undefined for as much as the bucket lacks. */
  readonly upTo: number | undefined;
}

function upToOf(call: Call): number | undefined {
  if (call.text('upTo') === undefined) return undefined;
  return call.wholeNumber('upTo', { min: 1, max: MAX_COST, unset: MAX_COST });
}

/** Gives tokens back, and returns how many. */
async function refundTo(bucket: Bucket, before: Figures, { cost, upTo }: Wanted): Promise<number> {
  if (before.state !== 'counted') return 0;
  const missing = Math.min(upTo ?? Infinity, before.burst) - before.remaining;
  const rate = await bucket.rate();
  // An empty bucket may be in debt, which can be given back, too.
  const debt = before.remaining === 0 && upTo === undefined ? (rate?.maxDebt ?? 0) : 0;
  const tokens = Math.min(cost, missing + debt);
  if (tokens <= 0) return 0;
  const goal = Math.min(before.burst, before.remaining + tokens);
  await bucket.change(
    (limiter, name) => limiter.refund([{ ...name, cost: tokens }]),
    `Repeat it with --up-to ${goal}, which gives back only what is missing.`,
  );
  return tokens;
}

function whyNothing({ state, remaining, burst }: Figures): string {
  if (state !== 'counted') return `the id is ${state}`;
  return remaining === burst ? 'the bucket is full' : `there are ${remaining} tokens already`;
}
