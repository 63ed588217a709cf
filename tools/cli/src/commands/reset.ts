import type { Call, Command } from '../console/command.ts';
import { UsageError } from '../console/failure.ts';
import type { Terminal } from '../console/terminal.ts';
import { AUDIT_OPTIONS, BUCKET_OPTIONS, BUCKET_WORDS, bucketExample, LIMIT_FILE_OPTIONS } from './words.ts';

/** `sluice reset`: fills a bucket. */
export const reset: Command = {
  about: [
    'Fills the bucket of an id, and frees all slots of a concurrency limit. Asks for the name of the limit first, unless ',
    '--yes is given. Can be repeated safely.',
  ].join(''),
  args: BUCKET_WORDS,
  options: [...BUCKET_OPTIONS, { flags: '--yes', text: 'do not ask' }, ...AUDIT_OPTIONS, ...LIMIT_FILE_OPTIONS],
  example: bucketExample('reset --yes'),
  async run(call) {
    checkCanAsk(call);
    const { figuresLines, withBucket } = await import('../limits/bucket.ts');
    return withBucket(
      call,
      async (bucket) => {
        const before = await bucket.figures();
        if (!call.has('yes')) await confirm(call, before.limit, figuresLines(before));
        await bucket.reset();
        const figures = await bucket.figures();
        return { figures, result: { before: before.remaining, bucket: figures } };
      },
      'reset',
    );
  },
};

function checkCanAsk(call: Call): void {
  if (call.has('yes') || (call.console.terminal.stdin.isTTY === true && !call.args.includes('-'))) return;
  throw new UsageError(
    'A reset asks for the name of the limit, but stdin is not a terminal. To reset the bucket without it, add --yes.',
  );
}

async function confirm({ console }: Call, limit: string, lines: readonly string[]): Promise<void> {
  for (const line of lines) console.note(line);
  const typed = await answerTo('Type the name of the limit to reset this bucket: ', console.terminal);
  if (typed !== limit) throw new UsageError(`The name of the limit is \`${limit}\`. Nothing was reset.`);
}

/** The longest answer that is read. */
const MAX_LENGTH = 1000;

/** Asks a question on stderr and returns the line that is typed, without spaces around it; `''` if stdin ends. */
async function answerTo(question: string, terminal: Terminal): Promise<string> {
  terminal.write('stderr', question);
  let typed = '';
  for await (const chunk of terminal.stdin) {
    typed += String(chunk);
    if (typed.includes('\n') || typed.length > MAX_LENGTH) break;
  }
  return typed.split('\n')[0]!.trim();
}
