// The room kinds: a folder for each kind of limits: its options, their checks, and what it does.
import type { Hints } from '../checks/options.ts';
import type { EndingExchange, HeldUntil } from '../decision/holding.ts';
import type { Part, PartContext } from '../decision/part.ts';
import type { Key } from '../keys/key.ts';
import type { DefinedLimit } from '../limits/defined-limit.ts';
import type { Limit, LimitMap } from '../limits/limit.ts';
import type { LimitKind } from '../limits/limit-kind.ts';
import type { LimitParts } from '../limits/limit-parts.ts';
import type { OptionRows, OptionTable } from '../limits/option.ts';
import type { Numbers } from '../rule/rate.ts';
import type { Provided } from '../store/provided.ts';
import type { Store, StoreBucket } from '../store/store.ts';

/**
 * A kind of limits: its options, how its numbers are validated, and how its level comes down. docs/architecture.md says
 * how to add one.
 *
 * @typeParam Options - The options beside those that every limit has.
 * @typeParam Override - What an override may change.
 */
export interface Kind<Options extends object, Override extends object = never> extends LimitKind {
  /** The option that shows the kind. Only a rate has none: a limit without any of them is one. */
  readonly mark: (keyof Options & string) | undefined;
  /** An option as one writes it, for messages: `per: 'month'`. */
  readonly example: string;
  readonly options: OptionTable<Options>;
  /** The options that must be given. */
  readonly needed: readonly (keyof Options & string)[];
  /** What an override of its limits may change. Without it, overrides are `unlimited` or `blocked`. */
  readonly override: OverrideKind<Override> | undefined;
  /** Names that are no options of its limits, with what to write instead. */
  readonly hints?: Hints;
  /** The key of a limit without one. Without it, a limit must have a key. */
  readonly key?: Key;
  /** What stores, decisions and exchanges need of the kind, and do not load themselves. */
  readonly provides?: Partial<Provided>;
  /** How its limits depend on others of their set. */
  readonly links?: Links;
  /** Makes what its limits need of a limiter. Called at the first limit of the kind. */
  readonly part?: (context: PartContext) => Part;

  /**
   * Validates the options of a limit.
   *
   * @throws {SluiceError} For the first wrong option.
   */
  define(options: Options, of: DefinedLimit): LimitParts;

  /**
   * Rejects a store that can't carry a limit.
   *
   * @throws {SluiceError} `ERR_OPTION`.
   */
  checkStore?(store: Store, limit: Limit<never>): void;

  /** Returns what distinguishes the bucket of an id from one of a rate. */
  bucket?(limit: Limit<never>, id: string): Partial<StoreBucket>;

  /**
   * Rejects a request at whose end nothing would release what its decision holds. Of a kind whose limits are `held`.
   *
   * @throws {SluiceError} `ERR_OPTION`, `ERR_RUNTIME`.
   */
  checkExchange?(limit: Limit<never>, exchange: EndingExchange, until: HeldUntil<never>): void;
}

/** What an override of a kind's limits may change. */
interface OverrideKind<Override extends object> {
  readonly options: OptionTable<Override>;
  readonly needed: readonly (keyof Override & string)[];
  /** For messages: `{ count: 50000 }`. */
  readonly example: string;

  /**
   * Validates the numbers of an override.
   *
   * @param where - Their path in error messages: `overrides.Orders['12345678']`.
   * @throws {SluiceError} For the first wrong option.
   */
  rate(where: string, numbers: Override): Numbers;

  /**
   * Rejects numbers that the limit does not allow.
   *
   * @throws {SluiceError} For the first wrong number.
   */
  check?(where: string, rate: Numbers, limit: Pick<Limit<never>, 'rate' | 'periods'>): void;
}

/** Numbers of overrides of a limit. */
export interface CountedNumbers {
  readonly rate: Numbers;
  /** How many overrides have them. A network counts as one. */
  readonly count: number;
}

/** How the limits of a kind depend on others of their set. */
interface Links {
  /**
   * Connects the limits of the kind with the others.
   *
   * @param numbersOf - Returns the numbers of the overrides of a limit; undefined if there are none, or a function returns them.
   * @returns The same limits, with what they need of each other.
   * @throws {SluiceError} `ERR_LIMIT`, and `ERR_OVERRIDE` for an override of a limit that others need unchanged.
   */
  connected<Request>(
    limits: LimitMap<Request>,
    numbersOf: (limit: string) => Iterable<CountedNumbers> | undefined,
  ): LimitMap<Request>;

  /**
   * Rejects overrides that contradict the limit.
   *
   * @throws {SluiceError} `ERR_OVERRIDE`.
   */
  checkOverrides(limit: Limit<never>, numbers: Iterable<CountedNumbers>): void;

  /**
   * Rejects limits that can't be decided together.
   *
   * @throws {SluiceError} `ERR_OPTION` or `ERR_DUPLICATE_BUCKET`.
   */
  checkTogether(uses: readonly LinkedUse[]): void;

  /** Returns the most that an id with these numbers gets, and its path in error messages. */
  most(where: string, numbers: Numbers, limit: Pick<Limit<never>, 'own'>): readonly [path: string, most: Numbers];

  /** Returns the other buckets of a limit's ids as a limit: their name in stores, and their numbers. */
  other(limit: Limit<never>): Limit<never>;

  /** Returns the numbers of the other bucket of an id. */
  otherNumbers(limit: Limit<never>, rate: Numbers): Numbers;

  /** Returns all numbers that only the kind reads, to compare them: two limits with the same may share their buckets. */
  numbers(limit: Limit<never>): object;

  /**
   * Returns the limits that one limit of a middleware of its own consists of.
   *
   * @param where - The path of its options in error messages.
   * @returns The options of the limit itself, and others by name.
   * @throws {SluiceError} `ERR_OPTION`.
   */
  inline(where: string, name: string, options: object): InlineLimits;
}

/** A limit that is used together with others. */
export interface LinkedUse {
  readonly limit: Limit<never>;
  readonly mode: string;
}

/** The limits that a middleware's own limit consists of. */
export interface InlineLimits {
  readonly options: object;
  readonly others: Readonly<Record<string, object>>;
  /** The paths of the other limits in the options of the middleware, by their names. */
  readonly written: Readonly<Record<string, string>>;
}

/** Any kind. Its options are validated by the kind itself. */
export interface AnyKind extends Kind<never> {
  readonly options: OptionRows;
  readonly needed: readonly string[];
  readonly mark: string | undefined;
  readonly override:
    | (OverrideKind<never> & { readonly options: OptionRows; readonly needed: readonly string[] })
    | undefined;
}

/** Returns the kind of a limit. */
export function kindOfLimit({ kind }: Pick<Limit<never>, 'kind'>): AnyKind {
  return kind as AnyKind;
}

/** Returns the kinds of limits, each once. */
export function kindsIn(limits: LimitMap): ReadonlySet<AnyKind> {
  return new Set([...limits.values()].map(kindOfLimit));
}
