import { loadSettings } from '@sluice/core/kinds';
import { eventLoop, type LoadOptions, type LoadSource } from '@sluice/core/load';

/**
 * The event loops that load limits of files use: one for equal options, so that its level does not begin again at 0 when
 * files are reloaded. One that no limit uses any more is collected as garbage: its timer ended with its last use.
 */
export class EventLoops {
  readonly #sources = new Map<string, WeakRef<LoadSource>>();

  /** How many event loops are remembered. */
  get size(): number {
    return this.#sources.size;
  }

  /** @param options - Valid options, as they are written in a file. */
  of(options: LoadOptions): LoadSource {
    const { ramp, everyMs, classes } = loadSettings('load', options);
    const key = [...Object.values(ramp), everyMs, classes].join(' ');
    const known = this.#sources.get(key)?.deref();
    if (known !== undefined) return known;
    this.#forgetUnused();
    const source = eventLoop(options);
    this.#sources.set(key, new WeakRef(source));
    return source;
  }

  #forgetUnused(): void {
    for (const [key, source] of this.#sources) if (source.deref() === undefined) this.#sources.delete(key);
  }
}
