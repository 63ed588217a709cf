import { SluiceError } from '../checks/errors.ts';
import { KINDS } from './index.ts';
import type { AnyKind } from '../limits/kind.ts';
import { rate } from './rate/rate.ts';

const MARKED = KINDS.filter((kind) => kind.mark !== undefined) as readonly (AnyKind & { readonly mark: string })[];

/** All options of all kinds, each once. */
export const KIND_OPTIONS: readonly string[] = [...new Set(KINDS.flatMap(({ options }) => Object.keys(options)))];

/**
 * Returns the kind of a limit, which its options show.
 *
 * @param where - The path of the limit in error messages: `limits.Monthly`.
 * @throws {SluiceError} `ERR_LIMIT` for the options of two kinds.
 */
export function kindOf(where: string, definition: object): AnyKind {
  const given = definition as Readonly<Record<string, unknown>>;
  const kind = MARKED.find(({ mark }) => given[mark] !== undefined) ?? missingKind(given) ?? rate;
  const foreign = KIND_OPTIONS.find((name) => given[name] !== undefined && !Object.hasOwn(kind.options, name));
  if (foreign === undefined) return kind;
  throw new SluiceError('ERR_LIMIT', `must be ${demandOf(kind, foreign)}.`, { path: `${where}.${foreign}` });
}

/** The kind of a limit whose only number comes from elsewhere, and is missing: the error then names that option. */
function missingKind(given: Readonly<Record<string, unknown>>): AnyKind | undefined {
  if (Object.keys(rate.options).some((name) => given[name] !== undefined)) return undefined;
  const kinds = MARKED.filter(({ mark }) => Object.hasOwn(given, mark));
  return kinds.length === 1 ? kinds[0] : undefined;
}

function demandOf({ mark, noun }: AnyKind, foreign: string): string {
  const other = KINDS.find(({ options }) => Object.hasOwn(options, foreign))!;
  if (mark === undefined) {
    return `given only with \`${other.mark}\`. For ${other.noun} add ${other.example}; for ${noun} leave it out`;
  }
  if (foreign === 'overshoot') return `left out beside \`${mark}\`: only a rate can have one`;
  return (
    `left out beside \`${mark}\`: a limit is ${noun} or ${other.noun}. ` +
    'For both define two limits, and use them in one batch'
  );
}
