import type { Call } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { UsageError } from '../console/failure.ts';
import { answerTo } from '../console/question.ts';
import { namedBucket } from '../limits/named-bucket.ts';
import { figuresLines, figuresOf, type Figures } from '../limits/figures.ts';
import { withLimits } from '../redis/open-limits.ts';

/** Runs `sluice reset`. */
export async function runReset(call: Call): Promise<number> {
  checkCanAsk(call);
  const { loaded, limit, id } = await namedBucket(call);
  return withLimits(loaded, call, async ({ limiter }) => {
    const bucket = { loaded, limiter, limit, id, cost: 1 };
    const before = await figuresOf(bucket);
    if (!call.has('yes')) await confirm(call, before);
    await limiter.reset([{ limit, id }]);
    const figures = await figuresOf(bucket);
    call.console.result({ before: before.remaining, bucket: figures }, () => figuresLines(figures));
    return EXIT.fine;
  });
}

function checkCanAsk(call: Call): void {
  if (call.has('yes') || (call.console.terminal.stdin.isTTY === true && !call.args.includes('-'))) return;
  throw new UsageError(
    'A reset asks for the name of the limit, but stdin is not a terminal. To reset the bucket without it, add --yes.',
  );
}

async function confirm({ console }: Call, before: Figures): Promise<void> {
  for (const line of figuresLines(before)) console.note(line);
  const typed = await answerTo(`Type the name of the limit to reset this bucket: `, console.terminal);
  if (typed !== before.limit) {
    throw new UsageError(`The name of the limit is \`${before.limit}\`. Nothing was reset.`);
  }
}
