import { SluiceError } from '@sluice/core';
import { BORROW, CONCURRENCY, LOAD, QUOTA } from '@sluice/core/kinds';
import { overrideHints, RATE, type AnyKind, type Hints } from '@sluice/core/kit';

/** The kinds of limits that files have. The first is that of a limit which shows no other. */
export const KINDS: readonly AnyKind[] = [RATE, BORROW, QUOTA, CONCURRENCY, LOAD];

const MARKED = KINDS.filter((kind) => kind.mark !== undefined) as readonly (AnyKind & { readonly mark: string })[];

/** Names that are no options of an override, with what to write instead. */
export const OVERRIDE_HINTS: Hints = Object.assign({}, ...MARKED.map(overrideHints));

/** Returns the kind with a mark; a rate has none. */
export function kindWith(mark: string | undefined): AnyKind {
  return KINDS.find((kind) => kind.mark === mark)!;
}

/** All options of all kinds, each once. */
const OPTIONS: readonly string[] = [...new Set(KINDS.flatMap(({ options }) => Object.keys(options)))];

/**
 * Returns the kind of a limit, which its options show.
 *
 * @param where - The path of the limit in error messages: `Monthly`.
 * @throws {SluiceError} `ERR_LIMIT` for the options of two kinds.
 */
export function kindShownBy(where: string, given: Readonly<Record<string, unknown>>): AnyKind {
  const kind = MARKED.find(({ mark }) => given[mark] !== undefined) ?? missingKind(given) ?? RATE;
  const foreign = OPTIONS.find((name) => given[name] !== undefined && !Object.hasOwn(kind.options, name));
  if (foreign === undefined) return kind;
  throw new SluiceError('ERR_LIMIT', `must be ${demandOf(kind, foreign)}.`, { path: `${where}.${foreign}` });
}

/** The kind of a limit whose only number comes from elsewhere, and is missing: the error then names that option. */
function missingKind(given: Readonly<Record<string, unknown>>): AnyKind | undefined {
  if (Object.keys(RATE.options).some((name) => given[name] !== undefined)) return undefined;
  const kinds = MARKED.filter(({ mark }) => Object.hasOwn(given, mark));
  return kinds.length === 1 ? kinds[0] : undefined;
}

function demandOf({ mark, noun, hints }: AnyKind, foreign: string): string {
  const other = KINDS.find(({ options }) => Object.hasOwn(options, foreign))!;
  if (mark === undefined) {
    return `given only with \`${other.mark}\`. For ${other.noun} add ${other.example}; for ${noun} leave it out`;
  }
  const hint = hints?.[foreign];
  if (hint !== undefined) return `left out beside \`${mark}\`: ${hint.replace(/\.$/, '')}`;
  if (foreign === 'overshoot') return `left out beside \`${mark}\`: only a rate can have one`;
  return (
    `left out beside \`${mark}\`: a limit is ${noun} or ${other.noun}. ` +
    'For both define two limits, and use them in one batch'
  );
}

/** A kind whose limits have overrides with numbers. */
interface Overridable extends AnyKind {
  readonly override: NonNullable<AnyKind['override']>;
}

/** The kinds whose limits have overrides with numbers. */
export const OVERRIDABLE = KINDS.filter(({ override }) => override !== undefined) as readonly Overridable[];

/**
 * Returns the kind that the options of an override show: that which needs these options and knows no others, otherwise
 * that of which it has an option that no other has, and at last a rate.
 *
 * @param given - The names of the options.
 */
export function kindOfOverride(given: readonly string[]): Overridable {
  return (
    OVERRIDABLE.find((kind) => isComplete(kind, given)) ??
    OVERRIDABLE.find(({ mark }) => mark !== undefined && given.includes(mark)) ??
    OVERRIDABLE[0]!
  );
}

function isComplete({ override: { options, needed } }: Overridable, given: readonly string[]): boolean {
  return needed.every((name) => given.includes(name)) && given.every((name) => Object.hasOwn(options, name));
}
