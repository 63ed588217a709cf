import type { Command } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { UsageError } from '../console/failure.ts';
import { REDIS_OPTIONS } from '../redis/options.ts';

const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `sluice log`: prints who has changed buckets. */
export const log: Command = {
  about: [
    'Prints who has changed which bucket, the oldest change first: the records that commands with --log have added to the ',
    'stream sluice:log in Redis, which has about the last 10000.',
  ].join(''),
  args: [],
  options: [
    { flags: '--since <time>', text: 'only what was changed within this time: 30m, 2h, 7d' },
    { flags: '--hash-ids', text: 'print a hash in place of each id' },
    ...REDIS_OPTIONS,
  ],
  example: 'sluice log --redis redis://127.0.0.1:6379 --since 2h',
  async run(call) {
    const since = call.text('since');
    const [, amount, unit = ''] = /^([1-9]\d{0,5})([smhd])$/.exec(since ?? '') ?? [];
    if (since !== undefined && amount === undefined) {
      throw new UsageError(`\`--since\` must be a time such as 30m, 2h or 7d, but was '${since}'.`);
    }
    const { readRecords, recordLine } = await import('../limits/records.ts');
    const { records, others } = await readRecords(
      call,
      amount === undefined ? undefined : Number(amount) * UNITS_MS[unit]!,
    );
    if (records.length === 0) call.console.note('No change is recorded. Commands record theirs with --log.');
    if (others > 0) call.console.note(`Left out because they are not records of this version: ${others}.`);
    call.console.result({ records }, () => records.map(recordLine));
    return EXIT.fine;
  },
};
