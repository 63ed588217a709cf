import { SluiceError, type Limiter } from '@sluice/core';
import { readRecipe } from '../load-limits.ts';
import type { LoadedLimits, Recipe } from '../loaded-limits.ts';
import { FileSignatures, pause } from './file-signatures.ts';
import type { LimitFilesEvent } from './limit-files-event.ts';
import type { LiveStatus } from './live-status.ts';

/** How long bad files must stay the same before they are judged: someone may be in the middle of writing them. */
const PATIENCE_MS = 200;

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
    if (this.#isClosed)
      throw new SluiceError('ERR_CLOSED', 'These live limits are closed. Make new ones by watchLimits.');
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
    await this.#inTurn(() => this.#readChanged());
    this.#isLooking = false;
  }

  async #readChanged(): Promise<void> {
    const isAsked = [this.#recipe.read.defaults, this.#recipe.read.overrides].some((source) => source?.isFunction);
    if (!isAsked && (await this.#files.now()) === this.#judged) return this.#looked();
    await this.#read({ background: true, signature: await this.#files.quiet() });
  }

  /** One reading after the other, so that an older one never replaces a newer. */
  #inTurn(read: () => Promise<void>): Promise<void> {
    this.#reading = this.#reading.then(read);
    return this.#reading;
  }

  async #read({ background, signature }: { readonly background: boolean; readonly signature: string }): Promise<void> {
    const { read, keys } = this.#recipe;
    let refusal: unknown;
    let loaded: LoadedLimits<Request> | undefined;
    try {
      loaded = await readRecipe({ read: { ...read, bounds: { ...read.bounds, background } }, keys });
    } catch (error) {
      refusal = error;
      if (background && (await this.#changesAfter(signature))) return;
    }
    if (this.#isClosed) return;
    this.#judged = signature;
    this.#looked();
    if (loaded === undefined) this.#refuse(refusal);
    else this.#take(loaded);
  }

  async #changesAfter(signature: string): Promise<boolean> {
    await pause(PATIENCE_MS);
    return (await this.#files.now()) !== signature;
  }

  #take({ limits, overrides, version, loadedAt }: LoadedLimits<Request>): void {
    const { version: before, lastError } = this.#status;
    if (version !== before) {
      try {
        this.#limiter.replace({ limits, overrides });
      } catch (error) {
        return this.#refuse(error);
      }
      this.#status = { version, loadedAt, checkedAt: loadedAt, lastError: undefined, failingSince: undefined };
      this.#tell({ type: 'limits-reloaded', version, message: `Sluice: other limits hold now, version ${version}.` });
    } else if (lastError !== undefined) {
      this.#status = { ...this.#status, lastError: undefined, failingSince: undefined };
      const message = `Sluice: the limits have no problems any more; those of version ${version} hold as before.`;
      this.#tell({ type: 'limits-restored', version, message });
    }
  }

  #refuse(cause: unknown): void {
    const { version, lastError, failingSince = new Date() } = this.#status;
    const error = cause as SluiceError;
    this.#status = { ...this.#status, lastError: error, failingSince };
    if (lastError?.message === error.message) return;
    const message = `Sluice: the limits were not reloaded, those of version ${version} go on. ${error.message}`;
    this.#tell({ type: 'limits-refused', cause, message });
  }

  #looked(): void {
    this.#status = { ...this.#status, checkedAt: new Date() };
  }
}

function pathsOf<Request>({ read: { defaults, overrides } }: Recipe<Request>): readonly string[] {
  return [defaults.path, overrides?.path].filter((path) => path !== undefined);
}
