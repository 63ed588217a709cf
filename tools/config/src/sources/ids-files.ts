import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { messageOf, shownText } from '@sluice/core/kit';
import { isMissing, readBytes, signatureOf, signaturesOf, type Source } from './source.ts';

/** The most files of ids: each is looked at twice a second while limits are watched. */
const MAX_FILES = 100;

const REMEDY = 'Write one id a line into it, or list the ids, for example [12345678].';

/** A file of ids, or why it can't be used: a sentence about `the file`, and the remedy. */
type IdsFile = { readonly label: string; readonly bytes: Uint8Array } | { readonly rejected: string };

/** The files of ids that a file of overrides names, by paths relative to its folder. */
export class IdsFiles {
  readonly #overrides: Source | undefined;
  readonly #maxBytes: number;
  readonly #signatures = new Map<string, string>();
  #isChanged = false;

  constructor(overrides: Source | undefined, maxBytes: number) {
    this.#overrides = overrides;
    this.#maxBytes = maxBytes;
  }

  /** The signatures of the files that were named, by path, when they were read; also of those that can't be read. */
  get signatures(): ReadonlyMap<string, string> {
    return this.#signatures;
  }

  /** Whether a file has changed since it was read. */
  async haveChanged(): Promise<boolean> {
    const now = await signaturesOf([...this.#signatures.keys()]);
    return this.#isChanged || now !== [...this.#signatures.values()].join(' ');
  }

  /** Reads a file within the folder of the overrides. Links that lead out of it are not followed. */
  async read(name: string): Promise<IdsFile> {
    const { from, label } = this.#overrides!;
    if (typeof from !== 'string')
      return { rejected: `only a file of overrides can name. List the ids, for example [12345678].` };
    const remedy = `Put it there, for example ids: ids.txt.`;
    if (name.includes('\0') || isOutside(name)) return { rejected: `must be in the folder of ${label}. ${remedy}` };
    const path = join(dirname(from), name);
    if (!this.#signatures.has(path) && this.#signatures.size === MAX_FILES) {
      return { rejected: `is one too many: at most ${MAX_FILES} files may be named. Join some.` };
    }
    try {
      const real = await realpath(path);
      if (isOutside(relative(await realpath(dirname(from)), real))) {
        this.#keep(path, await signatureOf(path));
        return { rejected: `is a link that leads out of the folder of ${label}. ${remedy}` };
      }
      const { content, signature } = await readBytes(real, this.#maxBytes);
      this.#keep(path, signature);
      if ('bytes' in content) return { label: join(dirname(label), name), bytes: content.bytes };
      return { rejected: `can't be used. ${'rejected' in content ? content.rejected : ''}` };
    } catch (error) {
      this.#keep(path, String((error as NodeJS.ErrnoException).code));
      const why = isMissing(error as NodeJS.ErrnoException) ? 'does not exist' : `can't be read: ${messageOf(error)}`;
      return { rejected: `${why}: ${shownText(path, 400)}. ${REMEDY}` };
    }
  }

  /** A file that two overrides name is read twice. */
  #keep(path: string, signature: string): void {
    if ((this.#signatures.get(path) ?? signature) !== signature) this.#isChanged = true;
    this.#signatures.set(path, signature);
  }
}

/** Whether a path is absolute, or leads out of the folder in which it begins. */
function isOutside(path: string): boolean {
  return isAbsolute(path) || join('.', path).split(sep)[0] === '..';
}
