import type { Command } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import type { Found } from '../limits/emptiest.ts';
import { REDIS_OPTIONS, STORE_OPTIONS } from '../redis/options.ts';
import { LIMIT_FILE_OPTIONS, LIMITS_WORD, limitsExample } from './words.ts';

/** `sluice top`: lists the emptiest buckets. */
export const top: Command = {
  about: [
    'Lists the emptiest buckets in Redis, in a cluster those of all primaries, or in PostgreSQL. It looks at the keys in ',
    'small steps with pauses, and changes nothing. A host store does not have the ids of its buckets: name them with --ids. ',
    'Ctrl-C ends it with the buckets that it has seen so far.',
  ].join(''),
  args: [LIMITS_WORD, { name: '[overrides]', text: 'the file of overrides' }],
  options: [
    ...STORE_OPTIONS,
    ...REDIS_OPTIONS,
    { flags: '--limit <name>', text: 'only buckets of this limit' },
    { flags: '--ids <file>', text: 'only buckets of these ids, one on each line; - for stdin' },
    { flags: '--count <n>', text: 'how many buckets to list; default: 10' },
    { flags: '--max-keys <n>', text: 'about how many keys to look at, also of other programs; default: 1000000' },
    ...LIMIT_FILE_OPTIONS,
  ],
  example: limitsExample('top --redis redis://127.0.0.1:6379 -'),
  endsItself: true,
  async run(call) {
    const { console } = call;
    const count = call.wholeNumber('count', { min: 1, max: 10_000, unset: 10 });
    const maxKeys = call.wholeNumber('maxKeys', { min: 1, max: 1_000_000_000, unset: 1_000_000 });
    const { emptiestBuckets, emptinessLine } = await import('../limits/emptiest.ts');
    const { found, top: listed } = await emptiestBuckets(call, { count, maxKeys });
    for (const note of notesOn(found, console.interrupted.aborted)) console.note(note);
    console.result({ ...found, top: listed }, () => listed.map(emptinessLine));
    return EXIT.fine;
  },
};

function* notesOn(
  { complete, keys, buckets, longIds, broken, blocked }: Found,
  wasInterrupted: boolean,
): Generator<string> {
  yield `Keys: ${keys}. Buckets of these limits: ${buckets}.`;
  if (!complete) yield `Not all keys were scanned.${wasInterrupted ? '' : ' To look at more, raise --max-keys.'}`;
  if (longIds > 0) yield `Left out because their id is too long to be in the key: ${longIds}.`;
  if (broken > 0) yield `Left out because they contain something else than a bucket: ${broken}.`;
  if (blocked > 0)
    yield `Left out because their id is blocked: ${blocked}. To list the blocks of the store, use sluice blocked.`;
}
