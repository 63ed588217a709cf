// The room load: `loadLimits`, `checkLimits` and their options.
import type { Key, LimitDefinition, Limits, OverrideList } from '@sluice/core';
import { LOAD_KEY } from '@sluice/core/kinds';
import { KeyFormats } from '../check/formats.ts';
import { problemsError } from '../check/problem.ts';
import { definitionOf } from '../shape/limits-shape.ts';
import type { LimitsRead } from '../check/limits-reading.ts';
import { readLimits, type ReadOptions } from '../check/read-limits.ts';
import { EventLoops } from './event-loops.ts';
import { checkKeys, checkSources, type KeyOptions, type LimitKeys, type LimitSources } from './options.ts';

/** The options of {@link loadLimits}. */
export interface LoadOptions<Request = unknown> extends LimitSources {
  /**
   * A key for each limit of the file, except for load limits: theirs is `clientNetwork()` unless it is given. A key
   * without a limit in the file is an error.
   */
  readonly keys: LimitKeys<Request>;
}

/**
 * Reads limits and overrides, and validates both as a whole:
 *
 *     const loaded = await loadLimits({
 *       defaults: 'limits.yaml',
 *       overrides: 'overrides.yaml',
 *       keys: { NewOrdersPerAccount: accountId((req: Request) => req.user?.id ?? null) },
 *     });
 *     const limiter = createLimiter({ ...loaded });
 *
 * Texts are read and ids validated in slices of a few milliseconds, so that the event loop is never blocked for long. Call {@link watchLimits} to follow changes of the sources.
 *
 * @throws {SluiceError} Rejects with `ERR_LIMIT_FILES` if a source has problems (one line for each of the first 50),
 * and with `ERR_OPTION`, `ERR_UNKNOWN_OPTION` or `ERR_KEY` if an option is wrong.
 */
export async function loadLimits<Request = unknown>(options: LoadOptions<Request>): Promise<LoadedLimits<Request>> {
  const read = checkSources('loadLimits', options, ['keys']);
  return readRecipe({ read, keys: checkKeys(options.keys), eventLoops: new EventLoops() });
}

/** Reads limits with options that are already validated. Rejects as {@link loadLimits} does. */
export async function readRecipe<Request>(recipe: Recipe<Request>): Promise<LoadedLimits<Request>> {
  const keys = new Map([...recipe.keys].map(([name, { key }]) => [name, key as Key<never>]));
  const read = await readLimits(recipe.read, new KeyFormats(keys));
  if (read.problemCount > 0) throw problemsError(read.problems, read.problemCount);
  return new RememberedLimits(read, recipe);
}

/** The validated options of {@link loadLimits}, kept so that the limits can be loaded again. */
export interface Recipe<Request> {
  readonly read: ReadOptions;
  readonly keys: ReadonlyMap<string, KeyOptions<Request>>;
  readonly eventLoops: EventLoops;
}

/**
 * Limits and overrides that {@link loadLimits} has read and validated. Spread them into the options of `createLimiter`
 * or `limiter.replace`: `createLimiter({ ...loaded })`. The spread copies `limits` and `overrides` only.
 */
export interface LoadedLimits<Request = unknown> {
  readonly limits: Limits<Request>;
  readonly overrides: OverrideList;
  /** A hash of the content of both sources. The same content has the same version in every process. */
  readonly version: string;
  /** When the sources were read. */
  readonly loadedAt: Date;
}

/** Loaded limits with the options by which they were loaded. */
export class RememberedLimits<Request> implements LoadedLimits<Request> {
  readonly limits: Limits<Request>;
  readonly overrides: OverrideList;
  readonly #version: string;
  readonly #loadedAt: Date;
  readonly #recipe: Recipe<Request>;

  constructor(read: LimitsRead, recipe: Recipe<Request>) {
    this.limits = definitionsOf(read, recipe);
    this.overrides = read.overrides;
    this.#version = read.version;
    this.#loadedAt = new Date(recipe.read.time.wallNow());
    this.#recipe = recipe;
  }

  get version(): string {
    return this.#version;
  }

  get loadedAt(): Date {
    return this.#loadedAt;
  }

  /** Returns the options by which limits were loaded; `undefined` for any other object, such as a copy. */
  static recipeOf<Request>(loaded: LoadedLimits<Request>): Recipe<Request> | undefined {
    return loaded instanceof RememberedLimits ? loaded.#recipe : undefined;
  }
}

function definitionsOf<Request>({ limits }: LimitsRead, { keys, eventLoops }: Recipe<Request>): Limits<Request> {
  const definitions = [...limits.values()].map((row): [string, LimitDefinition<Request>] => {
    // Only a load limit may have no key in code.
    const given = keys.get(row.name) ?? { key: LOAD_KEY };
    return [row.name, definitionOf(row, given, (options) => eventLoops.of(options))];
  });
  return Object.fromEntries(definitions);
}
