import type { LoadedLimits } from '@sluice/config';
import { SluiceError, type Awaitable, type Limiter } from '@sluice/core';
import type { BucketName } from '@sluice/core/store';
import type { Call } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { CommandError } from '../console/failure.ts';
import { withLimits, type OpenLimits } from '../redis/open-limits.ts';
import { Audit } from './audit.ts';
import { wholeBucketWords } from './bucket-words.ts';
import { explanationOf, type RateFacts } from './explanation.ts';
import { figuresLines, figuresOf, type Figures } from './figures.ts';
import { loadFiles } from './files.ts';

export { figuresLines } from './figures.ts';

/** The bucket in Redis that the words of a command name. */
export class Bucket {
  readonly #loaded: LoadedLimits;
  readonly #open: OpenLimits;
  /** The id as it was written. */
  readonly #name: BucketName;

  constructor(loaded: LoadedLimits, open: OpenLimits, name: BucketName) {
    this.#loaded = loaded;
    this.#open = open;
    this.#name = name;
  }

  /** @param cost - The cost of the request that is asked about. */
  figures(cost = 1): Promise<Figures> {
    return figuresOf({ loaded: this.#loaded, limiter: this.#open.limiter, ...this.#name, cost });
  }

  /** What follows from the rate of the id; undefined if none applies to it. */
  async rate(): Promise<RateFacts | undefined> {
    const { limiter, keyOptions } = this.#open;
    const { limit: name, id: text } = this.#name;
    return (await explanationOf(limiter, { loaded: this.#loaded, name, text, keyOptions })).rate;
  }

  /**
   * Makes a change. Where Redis may have made it although there is no answer, the error says so.
   *
   * @param remedy - What to do then.
   * @throws {CommandError} If it is not known whether the change was made. Otherwise what `change` throws.
   */
  async change<Result>(
    change: (limiter: Limiter, name: BucketName) => Awaitable<Result>,
    remedy: string,
  ): Promise<Result> {
    try {
      const result = await change(this.#open.limiter, this.#name);
      this.#open.check();
      return result;
    } catch (error) {
      if (!(error instanceof SluiceError) || error.kind !== 'store') throw error;
      throw new CommandError(`${error.message} It is not known whether the change was made. ${remedy}`);
    }
  }

  /** Fills it. This can be repeated, so it does not matter whether a call without an answer has done it. */
  async reset(): Promise<void> {
    await this.#open.limiter.reset([this.#name]);
  }
}

/** What a command shows of a bucket. */
export interface Shown {
  readonly figures: Figures;
  /** With `--json`. */
  readonly result: unknown;
}

/**
 * Opens the bucket that the words of a call name, and prints what a function returns.
 *
 * @param change - What the function does to it, for `--audit`: `reset`. Default: nothing.
 * @returns The exit code.
 * @throws {UsageError} If there are fewer or more words.
 * @throws {SluiceError} `ERR_LIMIT_FILES` if the files have problems, and what {@link withLimits} throws.
 */
export async function withBucket(
  call: Call,
  use: (bucket: Bucket) => Promise<Shown>,
  change?: string,
): Promise<number> {
  const audit = change === undefined ? undefined : new Audit(call, change);
  const { limits, overrides, limit, id } = wholeBucketWords(call);
  const loaded = await loadFiles({ limits, overrides }, call);
  return withLimits(loaded, call, async (open) => {
    const bucket = new Bucket(loaded, open, { limit, id });
    const make = (): Promise<Shown> => use(bucket);
    const { figures, result } = await (audit === undefined ? make() : audit.of(() => bucket.figures(), make));
    call.console.result(result, () => figuresLines(figures));
    return EXIT.fine;
  });
}
