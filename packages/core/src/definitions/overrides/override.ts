import { complaint, SluiceError } from '../../checks/errors.ts';
import { checkOptions, isPlainObject, type Hints } from '../../checks/options.ts';
import { LIMIT_HINTS } from '../../checks/peer-names.ts';
import type { BorrowingNumbers } from '../../kinds/borrow/borrow-kind.ts';
import type { ConcurrencyOverride } from '../../kinds/concurrency/concurrency-kind.ts';
import type { AnyKind } from '../../kinds/kind.ts';
import { NUMBER_ROWS } from '../../kinds/rate/number-rows.ts';
import type { QuotaOverride } from '../../kinds/quota/quota-kind.ts';
import type { OverrideRate } from '../../limits/limit.ts';
import type { LimitNumbers } from '../../rule/rate.ts';

type KeysOf<Change> = Change extends unknown ? keyof Change : never;

/** A change without what only overrides of other kinds change. */
type OfOneKind<Change, All = Change> = Change extends unknown
  ? Change & { readonly [Name in Exclude<KeysOf<All>, keyof Change>]?: undefined }
  : never;

/**
 * Other numbers for one id; `'unlimited'` lets the id through uncounted, `'blocked'` denies it always. The numbers must be
 * of the same kind as those of the limit: `count` and `period` for a rate, `count` alone for a quota, `concurrency` for a
 * concurrency limit.
 */
export type Override =
  | OfOneKind<LimitNumbers | BorrowingNumbers | QuotaOverride | ConcurrencyOverride>
  | 'unlimited'
  | 'blocked';

/**
 * Validates an override and converts its numbers to ticks.
 *
 * @param where - The path of the override in error messages: `overrides.Orders['12345678']`.
 * @param kind - That of the limit.
 * @throws {SluiceError} `ERR_OVERRIDE` for an invalid override, and what the kind throws for wrong numbers.
 */
export function overrideRate(where: string, override: Override, kind: AnyKind): OverrideRate {
  if (override === 'unlimited' || override === 'blocked') return override;
  if (!isPlainObject(override)) {
    const numbers = kind.override === undefined ? '' : `numbers such as ${kind.override.example}, `;
    throw complaint('ERR_OVERRIDE', { option: where, demand: `${numbers}'unlimited' or 'blocked'`, value: override });
  }
  const change = kind.override;
  if (change === undefined || hasOthersNumbers(override, kind)) throw wrongNumbers(where, kind);
  checkOptions(where, override, Object.keys(change.options), overrideHints(kind));
  const given = override as Readonly<Record<string, unknown>>;
  if (change.needed.some((name) => given[name] === undefined)) throw wrongNumbers(where, kind);
  return change.rate(where, override as never);
}

/** The numbers of rates and of concurrency limits. */
const NUMBERS = [...Object.keys(NUMBER_ROWS), 'concurrency'];

/** Whether an override has numbers of another kind than that of its limit. */
function hasOthersNumbers(override: object, { override: change, hints = {} }: AnyKind): boolean {
  const given = override as Readonly<Record<string, unknown>>;
  return NUMBERS.some((name) => given[name] !== undefined && !(name in change!.options) && !(name in hints));
}

/** Names that are no options of the overrides of a kind, with what to write instead. */
export function overrideHints({ options, override, noun, hints = {} }: AnyKind): Hints {
  const changed = override === undefined ? [] : Object.keys(override.options);
  const why =
    override === undefined
      ? 'its overrides are `unlimited` or `blocked`'
      : `an override of ${noun} changes its ${namesOf(changed)} alone`;
  const own = Object.keys(options).filter((name) => !changed.includes(name) && name !== 'exact');
  return {
    ...LIMIT_HINTS,
    borrow: '`borrow` is for a limit that borrows, and this one does not.',
    ...Object.fromEntries(own.map((name) => [name, `\`${name}\` belongs to the limit: ${why}.`])),
    ...Object.fromEntries(
      Object.entries(hints).map(([name, reason]) => [name, `\`${name}\` has no place here: ${reason}`]),
    ),
  };
}

/** Creates the error for an override of another kind than that of its limit. */
export function wrongNumbers(where: string, { noun, override }: AnyKind): SluiceError {
  const demand =
    override === undefined
      ? `no numbers, because the limit is ${noun}. Its overrides are \`unlimited\` or \`blocked\``
      : `${namesOf(override.needed)}${override.needed.length === 1 ? ' alone' : ''}, because the limit is ${noun}. For example ${override.example}`;
  return new SluiceError('ERR_OVERRIDE', `must have ${demand}.`, { path: where });
}

function namesOf(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(' and ');
}
