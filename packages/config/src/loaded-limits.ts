import type { LimitDefinition, LimitDefinitions, OverrideList } from '@sluice/core';
import type { LimitsRead, ReadOptions } from './check/read-limits.ts';
import type { KeyOptions } from './options.ts';

/** How limits were loaded, to load them again. */
export interface Recipe<Request> {
  readonly read: ReadOptions;
  readonly keys: ReadonlyMap<string, KeyOptions<Request>>;
}

/**
 * Limits and overrides that were read and checked. Its own enumerable fields are what `createLimiter` and
 * `limiter.replace` take: `createLimiter({ ...loaded })`.
 */
export interface LoadedLimits<Request = unknown> {
  readonly limits: LimitDefinitions<Request>;
  readonly overrides: OverrideList;
  /** A hash of the content of both sources: the same content has the same version everywhere. */
  readonly version: string;
  /** When they were read. */
  readonly loadedAt: Date;
}

/** Loaded limits that remember how they were loaded. */
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

  /** How they were loaded; `undefined` for anything else, such as a copy. */
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
