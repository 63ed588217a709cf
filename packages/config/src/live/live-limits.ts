import { SluiceError, type Limiter } from '@sluice/core';
import { isInstance, messageOf } from '@sluice/core/limits';
import { readRecipe } from '../load-limits.ts';
import type { LoadedLimits, Recipe } from '../loaded-limits.ts';
import { FileSignatures } from './file-signatures.ts';
import type { LimitFilesEvent } from './limit-files-event.ts';
import type { LiveStatus } from './live-status.ts';

/** What live limits are made of. */
export interface LiveParts<Request> {
  readonly limiter: Limiter<Request>;
  readonly loaded: LoadedLimits<Request>;
  readonly recipe: Recipe<Request>;
  /** How often to look whether the sources have changed; `false` for never. */
  readonly everyMs: number | false;
  readonly tell: (event: LimitFilesEvent) => void;
}

/** Limits that follow their sources. Made by {@link watchLimits}. */
export class LiveLimits<Request = unknown> {
  readonly #limiter: Limiter<Request>;
  readonly #recipe: Recipe<Request>;
  readonly #tell: (event: LimitFilesEvent) => void;
  readonly #files: FileSignatures;
  readonly #timer: NodeJS.Timeout | undefined;
  #status: LiveStatus;
  /** The files as they were judged last. */
  #judged = '';
  #isClosed = false;
  #isLooking = false;
  #reading: Promise<void> = Promise.resolve();

  /** @internal Made by `watchLimits`. */
  constructor({ limiter, loaded, recipe, everyMs, tell }: LiveParts<Request>) {
    this.#limiter = limiter;
    this.#recipe = recipe;
    this.#tell = tell;
    this.#files = new FileSignatures(pathsOf(recipe));
    const { version, loadedAt } = loaded;
    this.#status = { version, loadedAt, checkedAt: loadedAt, lastError: undefined, failingSince: undefined };
    if (everyMs !== false) this.#timer = setInterval(() => void this.#look(), everyMs).unref();
  }

  /** How they are doing. */
  status(): LiveStatus {
    return this.#status;
  }

  /**
   * Reads the sources now. Never rejects because of what they say: that is in the status, and is told.
   *
   * @throws {SluiceError} `ERR_CLOSED` after {@link LiveLimits.close}.
   */
  async reload(): Promise<LiveStatus> {
    if (this.#isClosed) throw new SluiceError('ERR_CLOSED', 'These live limits are closed. Call watchLimits() again.');
    await this.#inTurn(async () => this.#read({ background: false, signature: await this.#files.now() }));
    return this.#status;
  }

  /** Stops following. The limiter goes on with the limits that it has. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const signature = await this.#files.now();
    if (signature !== this.#judged) {
      const quiet = await this.#files.quiet();
      await this.#inTurn(() => this.#read({ background: true, signature: quiet }));
    } else if (hasFunction(this.#recipe)) await this.#inTurn(() => this.#read({ background: true, signature }));
    else this.#looked();
    this.#isLooking = false;
  }

  /** One reading after the other, so that an older one never replaces a newer. */
  #inTurn(read: () => Promise<void>): Promise<void> {
    this.#reading = this.#reading.then(read);
    return this.#reading;
  }

  async #read({ background, signature }: { readonly background: boolean; readonly signature: string }): Promise<void> {
    const { read, keys } = this.#recipe;
    const outcome = await readRecipe({ read: { ...read, bounds: { ...read.bounds, background } }, keys }).then(
      (loaded) => () => this.#take(loaded, background),
      (error: unknown) => () => this.#refuse(error),
    );
    if (this.#isClosed) return;
    this.#judged = signature;
    this.#looked();
    outcome();
  }

  #take(loaded: LoadedLimits<Request>, background: boolean): void {
    const { version, loadedAt } = loaded;
    const { version: before, lastError } = this.#status;
    // Who asks for a reload gets what the sources say, whatever the limiter was given in the meantime.
    if ((version !== before || !background) && !this.#replace(loaded)) return;
    if (version !== before) {
      this.#status = { version, loadedAt, checkedAt: loadedAt, lastError: undefined, failingSince: undefined };
      this.#tell({ type: 'limits-reloaded', version, message: `limits reloaded (version ${version})` });
    } else if (lastError !== undefined) {
      this.#status = { ...this.#status, lastError: undefined, failingSince: undefined };
      const message = `limits valid again; still using version ${version}`;
      this.#tell({ type: 'limits-restored', version, message });
    }
  }

  /** Gives the limiter its limits; tells whether it could take them. */
  #replace({ limits, overrides }: LoadedLimits<Request>): boolean {
    try {
      this.#limiter.replace({ limits, overrides });
      return true;
    } catch (error) {
      this.#refuse(error);
      // There is nothing to follow for.
      if ((error as SluiceError).code === 'ERR_CLOSED') this.close();
      return false;
    }
  }

  #refuse(cause: unknown): void {
    const { version, lastError, failingSince = new Date() } = this.#status;
    const error = cause as SluiceError;
    this.#status = { ...this.#status, lastError: error, failingSince };
    const reason = reasonOf(error);
    if (lastError !== undefined && reasonOf(lastError) === reason) return;
    const message = `limits NOT reloaded; still using version ${version}. ${reason}`;
    this.#tell({ type: 'limits-refused', cause, message });
  }

  #looked(): void {
    this.#status = { ...this.#status, checkedAt: new Date() };
  }
}

/** All lines of files that have problems, and of another error one: what a limiter threw may be anything. */
function reasonOf(error: SluiceError): string {
  return isInstance(error, SluiceError) && error.code === 'ERR_LIMIT_FILES' ? error.message : messageOf(error);
}

function pathsOf<Request>({ read: { defaults, overrides } }: Recipe<Request>): readonly string[] {
  return [defaults.from, overrides?.from].filter((from) => typeof from === 'string');
}

/** Whether a source has to be asked whether it has changed. */
export function hasFunction<Request>({ read: { defaults, overrides } }: Recipe<Request>): boolean {
  return [defaults, overrides].some((source) => typeof source?.from === 'function');
}
