import type { Awaitable } from '@sluice/core';
import type { BucketName } from '@sluice/core/store';
import type { Call } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { withLimits } from '../redis/open-limits.ts';
import { servedAt } from '../redis/open-store.ts';
import { Audit, awaitChange } from './audit.ts';
import { servedWords, wholeBucketWords } from './bucket-words.ts';
import { bucketsOf, type BucketSource } from './bucket-source.ts';
import type { RateFacts } from './explanation.ts';
import { figuresLines, type Figures } from './figures.ts';
import { loadFiles } from './files.ts';

export { figuresLines } from './figures.ts';

/** The bucket that the words of a command name. */
export class Bucket {
  readonly #call: Call;
  readonly #source: BucketSource;
  /** The id as it was written. */
  readonly #name: BucketName;

  constructor(call: Call, source: BucketSource, name: BucketName) {
    this.#call = call;
    this.#source = source;
    this.#name = name;
  }

  /** @param cost - The cost of the request that is asked about. */
  figures(cost = 1): Promise<Figures> {
    return this.#source.figures(this.#name, cost);
  }

  /** What follows from the rate of the id; undefined if none applies to it. */
  rate(): Promise<RateFacts | undefined> {
    return this.#source.rate(this.#name);
  }

  /**
   * Makes a change. Where Redis may have made it although there is no answer, the error says so.
   *
   * @param remedy - What to do then.
   * @throws {CommandError} If it is not known whether the change was made. Otherwise what `change` throws.
   */
  change<Result>(
    change: (limiter: BucketSource['limiter'], name: BucketName) => Awaitable<Result>,
    remedy: string,
  ): Promise<Result> {
    const make = async (): Promise<Result> => {
      const result = await change(this.#source.limiter, this.#name);
      this.#source.check();
      return result;
    };
    return awaitChange(this.#call, make(), remedy);
  }

  /** Fills it. This can be repeated, so it does not matter whether a call without an answer has done it. */
  async reset(): Promise<void> {
    await this.#source.limiter.reset([this.#name]);
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
  const show = async (source: BucketSource, name: BucketName): Promise<number> => {
    const bucket = new Bucket(call, source, name);
    const make = (): Promise<Shown> => use(bucket);
    const { figures, result } = await (audit === undefined ? make() : audit.of(() => bucket.figures(), make));
    call.console.result(result, () => figuresLines(figures));
    return EXIT.fine;
  };
  const service = servedAt(call);
  if (service !== undefined) {
    const { servedBuckets } = await import('./served-buckets.ts');
    return show(servedBuckets(call, service), servedWords(call));
  }
  const { limits, overrides, limit, id } = wholeBucketWords(call);
  const loaded = await loadFiles({ limits, overrides }, call);
  return withLimits(loaded, call, (open) => show(bucketsOf(loaded, open), { limit, id }));
}
