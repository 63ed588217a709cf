import { complaint, SluiceError } from '../../checks/errors.ts';
import { checkOptions, isPlainObject, type Hints } from '../../checks/options.ts';
import { LIMIT_HINTS } from '../../checks/peer-names.ts';
import { KINDS, type Kinds } from '../../kinds/index.ts';
import type { AnyKind, OverrideKind } from '../../limits/kind.ts';
import type { Numbers } from '../../rule/rate.ts';
import type { Limit, OverrideRate } from '../../limits/limit.ts';

/** What overrides of a kind may change, for each of several kinds. */
type OverrideOf<Kind> = Kind extends { override: { rate(where: string, numbers: infer Change): Numbers } | undefined }
  ? Change
  : never;

type KeysOf<Change> = Change extends unknown ? keyof Change : never;

/** A change without what only overrides of other kinds change. */
type OfOneKind<Change, All = Change> = Change extends unknown
  ? Change & { readonly [Name in Exclude<KeysOf<All>, keyof Change>]?: undefined }
  : never;

/** The numbers of an override. */
type OverriddenNumbers = OfOneKind<OverrideOf<Kinds>>;

/**
 * Other numbers for one id; `'unlimited'` lets the id through uncounted, `'blocked'` denies it always. The numbers must be
 * of the same kind as those of the limit: `count` and `period` for a rate, `count` alone for a quota, `concurrency` for a
 * concurrency limit.
 */
export type Override = OverriddenNumbers | 'unlimited' | 'blocked';

/** A kind whose limits have overrides with numbers. */
interface Overridable extends AnyKind {
  readonly override: NonNullable<AnyKind['override']>;
}

const KINDS_WITH_NUMBERS = KINDS.filter(({ override }) => override !== undefined) as readonly Overridable[];

/** All options of overrides. */
export const OVERRIDE_OPTIONS: readonly string[] = [
  ...new Set(KINDS_WITH_NUMBERS.flatMap(({ override }) => Object.keys(override.options))),
];

/** Names that are no options of an override, with what to write instead. */
export const OVERRIDE_HINTS: Hints = Object.assign({}, LIMIT_HINTS, ...KINDS.map(hintsOf));

function hintsOf({ mark, noun, options, override }: AnyKind): Hints {
  if (mark === undefined) return {};
  const why =
    override === undefined
      ? 'its overrides are `unlimited` or `blocked`'
      : `an override of ${noun} changes its \`${override.needed.join('` and `')}\` alone`;
  const names = Object.keys(options).filter((name) => !OVERRIDE_OPTIONS.includes(name) && name !== 'exact');
  return Object.fromEntries(names.map((name) => [name, `\`${name}\` belongs to the limit: ${why}.`]));
}

/**
 * Validates an override and converts its numbers to ticks.
 *
 * @param where - The path of the override in error messages: `overrides.Orders['12345678']`.
 * @throws {SluiceError} `ERR_OVERRIDE` for an invalid override, and what its kind throws for wrong numbers.
 */
export function overrideRate(where: string, override: Override): OverrideRate {
  if (override === 'unlimited' || override === 'blocked') return override;
  if (!isPlainObject(override)) {
    const demand = "numbers such as { count: 600, period: '180m' } or { concurrency: 20 }, 'unlimited' or 'blocked'";
    throw complaint('ERR_OVERRIDE', { option: where, demand, value: override });
  }
  checkOptions(where, override, OVERRIDE_OPTIONS, OVERRIDE_HINTS);
  return overrideKind(where, override).rate(where, override as never);
}

/** The kind that the options of an override show. */
function overrideKind(where: string, override: Readonly<Record<string, unknown>>): OverrideKind<never> {
  const given = OVERRIDE_OPTIONS.filter((name) => override[name] !== undefined);
  const kind = kindOfOverride(given);
  if (isComplete(kind, given)) return kind.override;
  if (kind.mark !== undefined) throw mixedKinds(where, kind);
  if (!Object.hasOwn(override, 'count')) throw withoutNumbers(where);
  return kind.override;
}

/**
 * Returns the kind that the options of an override show: that which needs these options and knows no others, otherwise
 * that of which it has an option that no other has, and at last a rate.
 *
 * @param given - The names of the options.
 */
export function kindOfOverride(given: readonly string[]): Overridable {
  return (
    KINDS_WITH_NUMBERS.find((kind) => isComplete(kind, given)) ??
    KINDS_WITH_NUMBERS.find(({ mark }) => mark !== undefined && given.includes(mark)) ??
    KINDS_WITH_NUMBERS[0]!
  );
}

function isComplete({ override: { options, needed } }: Overridable, given: readonly string[]): boolean {
  return needed.every((name) => given.includes(name)) && given.every((name) => Object.hasOwn(options, name));
}

function mixedKinds(where: string, { noun, mark, override }: Overridable): SluiceError {
  const message =
    `has \`${mark}\` beside other numbers: for ${noun} it must have \`${mark}\` alone, and for another limit ` +
    `no \`${mark}\`. For example ${override.example}.`;
  return new SluiceError('ERR_OVERRIDE', message, { path: where });
}

function withoutNumbers(where: string): SluiceError {
  const numbers = KINDS_WITH_NUMBERS.map(({ noun, override }) => `${optionsNamed(override)} for ${noun}`);
  const message = `must have all numbers of its limit, which it replaces: ${numbers.join(', ')}. For example ${KINDS_WITH_NUMBERS[0]!.override.example}.`;
  return new SluiceError('ERR_OVERRIDE', message, { path: where });
}

function optionsNamed({ needed }: Overridable['override']): string {
  return needed.map((name) => `\`${name}\``).join(' and ');
}

/**
 * Rejects the numbers of an override that are of another kind than those of its limit, or too many for its calendar.
 *
 * @param where - The path of the override in error messages.
 * @throws {SluiceError} `ERR_OVERRIDE`, or `ERR_OPTION` for a count.
 */
export function checkKind(
  where: string,
  rate: OverrideRate,
  limit: Pick<Limit<never>, 'rate'> & Partial<Pick<Limit<never>, 'calendar'>>,
): void {
  if (typeof rate === 'string') return;
  const kind = KINDS.find(({ name }) => name === limit.rate.kind.name)!;
  if (rate.kind.name !== kind.name) throw otherKind(where, kind);
  kind.override?.check?.(where, rate, limit);
}

function otherKind(where: string, { noun, override }: AnyKind): SluiceError {
  const demand =
    override === undefined
      ? `no numbers, because the limit is ${noun}. Its overrides are \`unlimited\` or \`blocked\``
      : `${optionsNamed(override)}${override.needed.length === 1 ? ' alone' : ''}, because the limit is ${noun}. For example ${override.example}`;
  return new SluiceError('ERR_OVERRIDE', `must have ${demand}.`, { path: where });
}
