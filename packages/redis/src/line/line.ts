import type { Clock } from '@sluice/core';
import type { Scheduler } from '@sluice/core/kit';
import type { LineChange, LineStatus } from './line-status.ts';

/** A Lua script, known to a server by its SHA-1. */
export interface Script {
  readonly name: string;
  readonly source: string;
  readonly sha1: string;
}

/** One call of a script. All its keys are in one hash slot. */
export interface ScriptCall {
  readonly script: Script;
  readonly keys: readonly string[];
  /** What follows the expiry: ARGV[2…]. */
  readonly args: readonly (string | number)[];
  /** How long the caller waits in all, in milliseconds, more than 0; the script must not write after that. */
  readonly deadlineMs: number;
  /** How long of it the caller has waited already, in milliseconds, less than `deadlineMs`. Default: 0. */
  readonly waitedMs?: number;
}

/** The way to the servers that hold the buckets. */
export interface Line {
  /** Whether keys of several slots can't travel in one call. */
  readonly isCluster: boolean;
  /**
   * Runs a script on the server of its keys.
   *
   * The line puts the expiry in front: ARGV[1] is the last moment at which the script may write, in the server's
   * time, ticks of 1/16 µs since 2026-01-01 UTC, as an integer string. The script's reply is an array of which the
   * first two are `[done 1 | expired 0, now in ticks]`, whole numbers.
   *
   * @returns The reply of a script that was done, without its first element: `[nowTicks, …]`, `nowTicks` a number.
   * @throws {SluiceError} Rejects with `ERR_STORE_UNAVAILABLE` when no server can be asked (at once), or when one
   * failed or could not be reached; `ERR_STORE_DEADLINE` when no answer came in time; `ERR_STORE_BUCKET` when this call
   * alone went wrong (a key of a wrong type, an error in the script); `ERR_STORE_ANSWER` for a reply of a wrong shape;
   * `ERR_CLOSED` after {@link close}.
   */
  run(call: ScriptCall): Promise<readonly unknown[]>;
  /**
   * Resolves when scripts can be run on every server: when the state is `up`.
   *
   * @throws {SluiceError} Rejects with `ERR_STORE_UNAVAILABLE` after `timeoutMs`, `ERR_CLOSED` when it is closed.
   */
  ready(timeoutMs: number): Promise<void>;
  /** How the way is. */
  status(): LineStatus;
  /** Ends connections and timers; what waits is rejected with `ERR_STORE_UNAVAILABLE`. Again, it does nothing. */
  close(): Promise<void>;
}

/** An ioredis client of any version, as a line uses it: it is duplicated, and nothing is sent on it or changed at it. */
export interface RedisClient {
  readonly isCluster: boolean;
  readonly options: object;
  /** Makes another client with the same settings, and others put over them. */
  duplicate(...args: never[]): unknown;
}

/** What a line is made of: one of `client` and `url`. */
export interface LineOptions {
  /** The user's ioredis client: `Redis` (Sentinels too) or `Cluster`, of ioredis 5.8+ or 6. It stays untouched. */
  readonly client?: RedisClient | undefined;
  /** `redis://` or `rediss://`, with credentials and db. Needs the package ioredis. */
  readonly url?: string | undefined;
  /** The scripts that will be run, at least one: every server is told them before its first call. */
  readonly scripts: readonly Script[];
  /** Told of a change of state at once; of more than four in ten seconds only what lasts. It must not throw. */
  readonly onChange?: ((change: LineChange) => void) | undefined;
  /** The time of deadlines, as far as the servers' clocks are compared with it. Default: the process's monotonic clock. */
  readonly clock?: Clock | undefined;
  /** The timers. Default: the process's. */
  readonly scheduler?: Scheduler | undefined;
}
