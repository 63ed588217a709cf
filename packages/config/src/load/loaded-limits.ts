import type { LimitDefinition, LimitDefinitions, OverrideList } from '@sluice/core';
import type { LimitsRead, ReadOptions } from '../check/read-limits.ts';
import type { KeyOptions } from './options.ts';

/** The validated options of {@link loadLimits}, kept so that the limits can be loaded again. */
export interface Recipe<Request> {
  readonly read: ReadOptions;
  readonly keys: ReadonlyMap<string, KeyOptions<Request>>;
}

/**
 * Limits and overrides that {@link loadLimits} has read and validated. Spread them into the options of `createLimiter`
 * or `limiter.replace`: `createLimiter({ ...loaded })`. The spread copies `limits` and `overrides` only.
 */
export interface LoadedLimits<Request = unknown> {
  readonly limits: LimitDefinitions<Request>;
  readonly overrides: OverrideList;
  /** A hash of the content of both sources. The same content has the same version in every process. */
  readonly version: string;
  /** When the sources were read. */
  readonly loadedAt: Date;
}

/** Loaded limits with the options by which they were loaded. */
export class RememberedLimits<Request> implements LoadedLimits<Request> {
  readonly limits: LimitDefinitions<Request>;
  readonly overrides: OverrideList;
  readonly #version: string;
  readonly #loadedAt: Date = new Date();
  readonly #recipe: Recipe<Request>;

  constructor(read: LimitsRead, recipe: Recipe<Request>) {
    this.limits = definitionsOf(read, recipe);
    this.overrides = read.overrides;
    this.#version = read.version;
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

function definitionsOf<Request>({ limits }: LimitsRead, { keys }: Recipe<Request>): LimitDefinitions<Request> {
  const definitions = [...limits.values()].map((row): [string, LimitDefinition<Request>] => {
    const { key, onFailure } = keys.get(row.name)!;
    const switches = { ...(row.disabled && { disabled: true }), ...(row.hidden && { hidden: true }) };
    return [row.name, { key, ...row.numbers!, ...(onFailure !== undefined && { onFailure }), ...switches }];
  });
  return Object.fromEntries(definitions);
}
