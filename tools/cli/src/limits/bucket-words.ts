import { shown } from '@sluice/core/kit';
import type { BucketName } from '@sluice/core/store';
import type { Call } from '../console/command.ts';
import { UsageError } from '../console/failure.ts';

/** What the words `limits [overrides] limit id` of a command name. */
export interface BucketWords {
  readonly limits: string;
  readonly overrides: string | undefined;
  /** The name of a limit; undefined if it is left out. */
  readonly limit: string | undefined;
  /** The id as it was written; undefined if it is left out. */
  readonly id: string | undefined;
}

/** The name of a limit and an id do not end like this in practice; a file of overrides does. */
const FILE = /\.(?:ya?ml|json)$/i;
/** Whether a word ends like the name of a file. */
export function endsLikeFile(word: string): boolean {
  return FILE.test(word);
}

const EXAMPLE = 'For example limits.yaml overrides.yaml Orders 12345678.';

/**
 * Returns what the words of a call name. They are the file of limits, the file of overrides if there is one, the name of a limit if
 * it is not given by `--limit`, and an id. If not all are there, the word after the file of limits is a file of overrides if it ends
 * like one.
 *
 * @throws {UsageError} If there are more words.
 */
export function bucketWords(call: Call): BucketWords {
  const [limits = '', ...words] = call.args;
  const named = call.text('limit');
  const most = named === undefined ? 3 : 2;
  if (words.length > most)
    throw new UsageError(
      `There must be at most ${most + 1} words here, but there are ${words.length + 1}: a file of limits, a file of overrides if there is one, ${named === undefined ? 'the name of a limit, ' : ''}and an id. ${EXAMPLE}`,
    );
  const hasOverrides = words.length === most || endsLikeFile(words[0] ?? '');
  const [overrides, ...names] = hasOverrides ? words : [undefined, ...words];
  const [limit, id] = named === undefined ? names : [named, ...names];
  return { limits, overrides, limit, id };
}

/**
 * Returns what the words of a call name, with a limit and an id.
 *
 * @throws {UsageError} If there are fewer or more words.
 */
export function wholeBucketWords(call: Call): BucketWords & { readonly limit: string; readonly id: string } {
  const { limits, overrides, limit, id } = bucketWords(call);
  if (limit !== undefined && id !== undefined) return { limits, overrides, limit, id };
  const missing = limit === undefined ? 'the name of a limit and an id' : 'an id';
  throw new UsageError(
    `After the files there must be ${missing}. ${readAs({ limits, overrides, limit, id })} ${EXAMPLE}`,
  );
}

/**
 * Returns what the words of a call name where a service decides by its own files: words before the limit are not read.
 *
 * @throws {UsageError} If there is no limit, or no id.
 */
export function servedWords(call: Call): BucketName {
  const named = call.text('limit');
  const names = call.args.slice(named === undefined ? -2 : -1);
  const [limit, id] = named === undefined ? names : [named, ...names];
  if (limit === undefined || id === undefined)
    throw new UsageError('There must be the name of a limit and an id. For example Orders 12345678.');
  const unread = call.args.slice(0, -names.length);
  if (unread.length > 0) call.console.note(`The service has its own files and does not read ${unread.join(' ')}.`);
  return { limit, id };
}

/** What the words were taken for: whoever left out the files sees it. */
function readAs({ limits, overrides, limit }: BucketWords): string {
  const files = overrides === undefined ? '' : `, ${shown(overrides)} as that of overrides`;
  const named = limit === undefined ? '' : `, ${shown(limit)} as the limit`;
  return `${shown(limits)} was read as the file of limits${files}${named}.`;
}
