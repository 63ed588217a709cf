import type { Call } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { namedBucket } from '../limits/named-bucket.ts';
import { figuresLines, figuresOf } from '../limits/figures.ts';
import { costOf } from '../redis/cost.ts';
import { withLimits } from '../redis/open-limits.ts';
import { made } from '../redis/unknown-outcome.ts';

/** Runs `sluice charge`. */
export async function runCharge(call: Call): Promise<number> {
  const cost = costOf(call);
  const { loaded, limit, id } = await namedBucket(call);
  return withLimits(loaded, call, async ({ limiter, check }) => {
    const bucket = { loaded, limiter, limit, id, cost: 1 };
    const charged = await made(async () => {
      const states = await limiter.charge([{ limit, id, cost }]);
      check();
      return states.length > 0;
    }, 'Look at the bucket with sluice peek before you repeat it.');
    const figures = await figuresOf(bucket);
    call.console.note(charged ? `Charged ${cost}.` : `Charged nothing, because the id is ${figures.state}.`);
    call.console.result({ charged: charged ? cost : 0, bucket: figures }, () => figuresLines(figures));
    return EXIT.fine;
  });
}
