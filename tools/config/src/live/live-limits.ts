// The room live: `watchLimits`: changes of the files.
import { SluiceError, type Limiter, type Time } from '@sluice/core';
import { isInstance, messageOf } from '@sluice/core/kit';
import type { Alarm } from '@sluice/core/store';
import { readRecipe, type LoadedLimits, type Recipe } from '../load/load-limits.ts';
import { FileSignatures } from './file-signatures.ts';

export interface LiveParts<Request> {
  readonly limiter: Limiter<Request>;
  readonly loaded: LoadedLimits<Request>;
  readonly recipe: Recipe<Request>;
  /** How often to check for changes, in milliseconds; `false` for only on {@link LiveLimits.reload}. */
  readonly everyMs: number | false;
  readonly tell: (event: LimitFilesEvent) => void;
  readonly time: Time;
}

/** Limits that follow their sources. Create them with {@link watchLimits}. */
export class LiveLimits<Request = unknown> {
  readonly #limiter: Limiter<Request>;
  readonly #recipe: Recipe<Request>;
  readonly #tell: (event: LimitFilesEvent) => void;
  readonly #files: FileSignatures;
  readonly #time: Time;
  #alarm: Alarm | undefined;
  #status: LiveStatus;
  /** The signature of the files when they were last read. */
  #judged = '';
  #isClosed = false;
  #isLooking = false;
  #reading: Promise<void> = Promise.resolve();

  /** @internal Made by `watchLimits`. */
  constructor({ limiter, loaded, recipe, everyMs, tell, time }: LiveParts<Request>) {
    this.#limiter = limiter;
    this.#recipe = recipe;
    this.#tell = tell;
    this.#time = time;
    this.#files = new FileSignatures(pathsOf(recipe), time);
    const { version, loadedAt } = loaded;
    this.#status = { version, loadedAt, checkedAt: loadedAt, lastError: undefined, failingSince: undefined };
    if (everyMs !== false) this.#lookEvery(everyMs);
  }

  /** Returns the version in use, and whether the current content of the sources was rejected. */
  status(): LiveStatus {
    return this.#status;
  }

  /**
   * Reads the sources now, and passes their content to the limiter even if it has not changed. Bad content does not
   * make the promise reject: see `lastError` of the status, and the event `limits-rejected`.
   *
   * @returns The status after the reload.
   * @throws {SluiceError} Rejects with `ERR_CLOSED` after {@link LiveLimits.close}, or once the limiter is closed and
   * watching has therefore ended.
   */
  async reload(): Promise<LiveStatus> {
    if (this.#isClosed) throw new SluiceError('ERR_CLOSED', 'These live limits are closed. Call watchLimits() again.');
    await this.#inTurn(async () => this.#read({ background: false, signature: await this.#files.now() }));
    return this.#status;
  }

  /** Stops watching. The limiter keeps its current limits. */
  close(): void {
    this.#isClosed = true;
    this.#alarm?.cancel();
  }

  #lookEvery(everyMs: number): void {
    this.#alarm = this.#time.alarm(everyMs, () => {
      this.#lookEvery(everyMs);
      void this.#look();
    });
    this.#alarm.unref();
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

  /** Runs readings one after the other, so that an older one never replaces a newer one. */
  #inTurn(read: () => Promise<void>): Promise<void> {
    this.#reading = this.#reading.then(read);
    return this.#reading;
  }

  async #read({ background, signature }: { readonly background: boolean; readonly signature: string }): Promise<void> {
    const read = { ...this.#recipe.read, time: this.#time, onNamed: this.#files.follow };
    const outcome = await readRecipe({ ...this.#recipe, read }).then(
      (loaded) => () => this.#take(loaded, background),
      (error: unknown) => () => this.#refuse(error),
    );
    if (this.#isClosed) return;
    this.#judged = this.#files.asRead(signature);
    this.#looked();
    outcome();
  }

  #take(loaded: LoadedLimits<Request>, background: boolean): void {
    const { version, loadedAt } = loaded;
    const { version: before, lastError } = this.#status;
    // A caller of `reload` wants the content of the sources in use, even if code has replaced the limits since.
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

  /** Replaces the limits of the limiter. Returns whether the limiter accepted them. */
  #replace({ limits, overrides }: LoadedLimits<Request>): boolean {
    try {
      this.#limiter.replace({ limits, overrides });
      return true;
    } catch (error) {
      this.#refuse(error);
      // A closed limiter never accepts limits again.
      if ((error as SluiceError).code === 'ERR_CLOSED') this.close();
      return false;
    }
  }

  #refuse(cause: unknown): void {
    const { version, lastError, failingSince = this.#now() } = this.#status;
    const error = cause as SluiceError;
    this.#status = { ...this.#status, lastError: error, failingSince };
    const reason = reasonOf(error);
    if (lastError !== undefined && reasonOf(lastError) === reason) return;
    const message = `limits NOT reloaded; still using version ${version}. ${reason}`;
    this.#tell({ type: 'limits-rejected', cause, message });
  }

  #looked(): void {
    this.#status = { ...this.#status, checkedAt: this.#now() };
  }

  #now(): Date {
    return new Date(this.#time.wallNow());
  }
}

/**
 * The reason for a log line: all problems of files, but only one line of other errors, which may come from user code.
 */
function reasonOf(error: SluiceError): string {
  return isInstance(error, SluiceError) && error.code === 'ERR_LIMIT_FILES' ? error.message : messageOf(error);
}

function pathsOf<Request>({ read: { defaults, overrides } }: Recipe<Request>): readonly string[] {
  return [defaults.from, overrides?.from].filter((from) => typeof from === 'string');
}

/** Whether a source is a function, which must be called to find out whether its content has changed. */
export function hasFunction<Request>({ read: { defaults, overrides } }: Recipe<Request>): boolean {
  return [defaults, overrides].some((source) => typeof source?.from === 'function');
}

/**
 * An event of {@link watchLimits}, emitted to `onEvent`. `message` describes what happened and what to do; the log line
 * is the message after `Sluice: `. `version` is the hash of the content in use.
 */
export type LimitFilesEvent =
  /** The sources have new content, and the limiter now uses it. */
  | { readonly type: 'limits-reloaded'; readonly version: string; readonly message: string }
  /**
   * The content of the sources was rejected, and the previous limits stay in use. `cause` is the `ERR_LIMIT_FILES`
   * error with all problems, or the error of `limiter.replace`. Emitted once for each new reason.
   */
  | { readonly type: 'limits-rejected'; readonly cause: unknown; readonly message: string }
  /** After rejected content, the sources again have the content that is in use. */
  | { readonly type: 'limits-restored'; readonly version: string; readonly message: string };

/** The state of watched limits, returned by {@link LiveLimits.status} and {@link LiveLimits.reload}. */
export interface LiveStatus {
  /** A hash of the content in use. The same content has the same version in every process. */
  readonly version: string;
  /** When the content in use was loaded. */
  readonly loadedAt: Date;
  /** When the sources were last checked for changes. */
  readonly checkedAt: Date;
  /** Why the current content of the sources was rejected; `undefined` if it is the content in use. */
  readonly lastError: SluiceError | undefined;
  /** When the sources were first rejected; `undefined` if they are not. */
  readonly failingSince: Date | undefined;
}
