import type { Call } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { namedBucket } from '../limits/named-bucket.ts';
import { figuresLines, figuresOf } from '../limits/figures.ts';
import { costOf } from '../redis/cost.ts';
import { withLimits } from '../redis/open-limits.ts';

/** Runs `sluice peek`. */
export async function runPeek(call: Call): Promise<number> {
  const cost = costOf(call);
  const { loaded, limit, id } = await namedBucket(call);
  const figures = await withLimits(loaded, call, ({ limiter }) => figuresOf({ loaded, limiter, limit, id, cost }));
  if (figures.features.includes('overshoot')) call.console.note('Tokens that processes have leased count as taken.');
  call.console.result(figures, () => figuresLines(figures));
  return EXIT.fine;
}
