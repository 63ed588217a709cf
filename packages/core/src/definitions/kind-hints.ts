import { shown, shownName, SluiceError } from '../checks/errors.ts';
import { entriesOf, isPlainObject } from '../checks/options.ts';
import type { AnyKind } from '../kinds/kind.ts';
import { RATE } from '../kinds/rate/rate.ts';

/** A kind whose code need not be loaded: what its limits are, and the function that makes them. */
interface NamedKind {
  readonly noun: string;
  readonly maker: string;
  /** The option that shows it. */
  readonly mark: string;
  /** The other options that it alone has. */
  readonly others: readonly string[];
}

const KINDS: readonly NamedKind[] = [
  { noun: 'a quota', maker: 'quota', mark: 'per', others: ['timeZone', 'anchor', 'warnAt'] },
  { noun: 'a concurrency limit', maker: 'concurrency', mark: 'concurrency', others: ['expiry', 'scope'] },
  { noun: 'a load limit', maker: 'load', mark: 'load', others: [] },
  { noun: 'a rate that borrows', maker: 'borrow', mark: 'borrow', others: [] },
];

/** The names of the options that show kinds. */
export const KIND_MARKS: readonly string[] = KINDS.map(({ mark }) => mark);

/** All options that only other kinds than a rate have. */
const OF_KINDS: readonly string[] = [...KIND_MARKS, ...KINDS.flatMap(({ others }) => others)];

/** The options of limits of all kinds: the others of a middleware are not those of its limit. */
const OF_LIMITS: ReadonlySet<string> = new Set([
  'key',
  'onFailure',
  'hidden',
  'disabled',
  ...OF_KINDS,
  ...Object.keys(RATE.options),
]);

/**
 * Rejects the options of another kind. A plain object that shows a kind is answered with the line that makes the limit.
 *
 * @param where - The path of the limit in error messages: `limits.Monthly`.
 * @param caller - The function of a middleware, if the options are its.
 * @throws {SluiceError} `ERR_LIMIT`.
 */
export function rejectOtherKinds(where: string, definition: unknown, kind: AnyKind, caller?: string): void {
  if (!isPlainObject(definition)) return;
  const given = Object.fromEntries(entriesOf(where, definition));
  const isForeign = (name: string): boolean => given[name] !== undefined && !Object.hasOwn(kind.options, name);
  const option = [...OF_KINDS, ...Object.keys(RATE.options)].find(isForeign);
  if (option === undefined) return;
  const owner = KINDS.find(({ mark, others }) => mark === option || others.includes(option));
  const path = `${where}.${option}`;
  if (kind.mark !== undefined) {
    const why = kind.hints?.[option] ?? `a limit is ${kind.noun} or ${owner?.noun ?? RATE.noun}. ${IN_ONE_BATCH}`;
    throw new SluiceError('ERR_LIMIT', `must be left out beside \`${kind.mark}\`: ${why}`, { path });
  }
  const { noun, maker, mark } = owner!;
  const line = caller === undefined ? made(maker, given) : madeInline(caller, maker, given);
  throw new SluiceError(
    'ERR_LIMIT',
    `is an option of ${noun}, which is made by a function. Write import { ${maker} } from '@sluice/core/${maker}'; ` +
      `and ${line}${option === mark ? '' : '; or leave it out'}.`,
    { path },
  );
}

const IN_ONE_BATCH = 'For both define two limits, and use them in one batch.';

type Given = Readonly<Record<string, unknown>>;

function made(maker: string, given: Given): string {
  return `${maker}({ ${listed(given).join(', ')} })`;
}

function madeInline(caller: string, maker: string, given: Given): string {
  const own = Object.entries(given).filter(([name]) => OF_LIMITS.has(name));
  const others = Object.entries(given).filter(([name]) => !OF_LIMITS.has(name));
  const key = 'key' in given || maker === 'load' ? {} : { key: undefined };
  const limit = `limit: ${made(maker, { ...key, ...Object.fromEntries(own) })}`;
  return `${caller}({ ${[limit, ...listed(Object.fromEntries(others))].join(', ')} })`;
}

function listed(given: Given): readonly string[] {
  return Object.entries(given).flatMap(([name, value]) =>
    value === undefined && name !== 'key' ? [] : [written(name, value)],
  );
}

/** How much of a value is written into the line of a message. */
const MAX_SHOWN = 60;

function written(name: string, value: unknown): string {
  if (name === 'key') return value === undefined ? 'key: clientNetwork()' : 'key';
  if (typeof value === 'function' || (typeof value === 'object' && value !== null)) return `${shownName(name)}: …`;
  const text = shown(value);
  return `${shownName(name)}: ${text.length > MAX_SHOWN ? '…' : text}`;
}
